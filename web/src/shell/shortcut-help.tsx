import { Key } from "../parts/button.tsx";
import { Dialog } from "../parts/form/dialog.tsx";
import { PLACES } from "./nav.ts";
import { SingleKeys } from "./single-keys-choice.tsx";

const GROUPS: readonly { readonly title: string; readonly keys: readonly (readonly [keys: string, does: string])[] }[] =
  [
    {
      title: "Everywhere",
      keys: [
        ["n", "New session"],
        ["?", "Show shortcuts"],
        ...PLACES.map(({ key, name }) => [`g ${key}`, name] as const),
      ],
    },
    {
      title: "Lists",
      keys: [
        ["/", "Search"],
        ["j / k", "Next / previous"],
        ["Enter", "Open"],
      ],
    },
    {
      title: "Session",
      keys: [
        ["w", "Go to the approval"],
        ["i", "Write a message"],
        ["Enter", "Send"],
        ["Shift Enter", "New line"],
        ["Escape, twice", "Interrupt"],
        ["End", "Jump to newest"],
      ],
    },
    {
      title: "Timeline",
      keys: [
        ["j / k", "Next / previous event"],
        ["Home / End", "First / last event"],
      ],
    },
    {
      title: "Approvals (in a session: after w)",
      keys: [
        ["a", "Allow"],
        ["d", "Deny"],
        ["e", "Edit the input"],
        ["Ctrl Enter", "Send"],
        ["Escape", "Go back"],
      ],
    },
  ];

export function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <SingleKeys />
      <div className="mt-4 gap-5 sm:columns-2">
        {GROUPS.map(({ title, keys }) => (
          <section key={title} className="mb-4 break-inside-avoid">
            <h3 className="mb-1 text-xs font-medium text-faint">{title}</h3>
            <dl className="flex flex-col gap-1 text-sm">
              {keys.map(([key, does]) => (
                <div key={key} className="flex justify-between gap-4">
                  <dt>{does}</dt>
                  <dd>
                    <Key>{key}</Key>
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
