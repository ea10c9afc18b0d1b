import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/text/code.tsx";
import { Dialog } from "../parts/form/dialog.tsx";

/** A secret that the server shows once. */
export function SecretOnce({
  title,
  secret,
  children,
  onClose,
}: {
  readonly title: string;
  readonly secret: string;
  readonly children: string;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="flex flex-col gap-4 text-sm">
        <p>
          <span className="font-medium">This is shown only once.</span> Copy it now: the server cannot show it again.{" "}
          {children}
        </p>
        <div className="flex items-center gap-2 rounded-md border border-line bg-sunken p-2">
          <code dir="ltr" className="min-w-0 flex-1 font-mono text-xs break-all select-all">
            {secret}
          </code>
          <CopyButton text={secret} label="Copy secret" />
        </div>
        <Button look="primary" className="self-end" onClick={onClose}>
          I have copied it
        </Button>
      </div>
    </Dialog>
  );
}
