import type { ReactNode } from "react";
import { FormDialog } from "./form-dialog.tsx";

/** Asks before an action that cannot be undone, and closes when it is done. */
export function Confirm({
  title,
  action,
  onConfirm,
  onClose,
  children,
}: {
  readonly title: string;
  readonly action: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const confirm = async (): Promise<void> => {
    await onConfirm();
    onClose();
  };
  return (
    <FormDialog title={title} action={action} look="danger" onSubmit={confirm} onClose={onClose}>
      <div className="flex flex-col gap-2 text-sm break-words">{children}</div>
    </FormDialog>
  );
}
