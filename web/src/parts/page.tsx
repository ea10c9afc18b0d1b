import { type ReactNode, useEffect } from "react";

/** A page with its heading and `actions`. Sets the document title. */
export function Page({
  title,
  about,
  actions,
  children,
}: {
  readonly title: string;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  useTitle(title);
  return (
    <div className="mx-auto flex w-full max-w-6xl flex-col gap-4 p-4 sm:p-6">
      <header className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
          {about !== undefined && <p className="text-sm text-muted">{about}</p>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

export function Section({
  id,
  title,
  actions,
  children,
}: {
  /** For links to it. */
  readonly id?: string;
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <section id={id} className="flex scroll-mt-4 flex-col gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-lg font-semibold">{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
}

export function Card({ children, className = "" }: { readonly children: ReactNode; readonly className?: string }) {
  return <div className={`rounded-lg border border-line bg-surface shadow-card ${className}`}>{children}</div>;
}

/** Set by the badge of pending approvals; precedes the title of every page. */
let prefix = "";
let title = "";

function show(): void {
  document.title = `${prefix}${title === "" ? "" : `${title} · `}Capstan`;
}

export function useTitle(name: string): void {
  useEffect(() => {
    title = name;
    show();
  }, [name]);
}

export function setTitlePrefix(text: string): void {
  prefix = text;
  show();
}
