import type { ReactNode } from "react";

/** An empty state: why there is nothing, and what to do about it. */
export function Empty({
  icon,
  title,
  children,
}: {
  readonly icon?: ReactNode;
  readonly title: string;
  readonly children?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center gap-2 rounded-lg border border-dashed border-line px-6 py-12 text-center">
      {icon !== undefined && <div className="text-faint [&>svg]:size-6">{icon}</div>}
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="max-w-md text-sm text-muted">{children}</div>}
    </div>
  );
}
