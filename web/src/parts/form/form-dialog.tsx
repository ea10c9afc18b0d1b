import { type FormEvent, type ReactNode, useState } from "react";
import { Button, type ButtonProps } from "../button.tsx";
import { Dialog } from "./dialog.tsx";
import { useFailure } from "../failure/failure.ts";
import { Problem } from "../failure/problem.tsx";

/** A form in a dialog. `onSubmit` closes it. Failures are shown in place, so that the person can try again. */
export function FormDialog({
  title,
  action,
  look = "primary",
  failed,
  isReady = true,
  note,
  onSubmit,
  onClose,
  children,
}: {
  readonly title: string;
  /** The button's label: the action, not "OK". */
  readonly action: string;
  readonly look?: ButtonProps["look"];
  /** The title of a failure. */
  readonly failed?: string;
  readonly isReady?: boolean;
  /** Beside the buttons. */
  readonly note?: ReactNode;
  readonly onSubmit: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const [thrown, setThrown] = useFailure();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    // Must not submit the form that opened it.
    event.stopPropagation();
    setBusy(true);
    try {
      await onSubmit();
    } catch (error) {
      setThrown(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
        {children}
        {thrown !== undefined && <Problem thrown={thrown} title={failed} />}
        <div className="flex flex-wrap items-center justify-end gap-2">
          {note}
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look={look} disabled={!isReady || isBusy}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
