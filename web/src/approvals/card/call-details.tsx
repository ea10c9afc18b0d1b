import type { WireApproval } from "../../../../src/client/index.ts";
import { DiffView } from "../../parts/text/diff-view.tsx";
import { useCard } from "./card-position.ts";
import { type ShownChange, MAX_CHARACTERS, MAX_LINES } from "./change.ts";
import { factsOf, programsOf } from "./describe.ts";
import { escapeHidden } from "../../../../src/words/hidden-text.ts";
import { thousands } from "../../../../src/words/amounts.ts";

/** What a call would do: its programs, its change, and the rest of its input. */
export function CallDetails({
  request,
  change,
}: {
  readonly request: WireApproval["request"];
  readonly change: ShownChange | undefined;
}) {
  const { tool, input } = request;
  const programs = programsOf(request);
  const command = tool === "Bash" && typeof input["command"] === "string" ? input["command"] : undefined;
  return (
    <div className="flex flex-col gap-3">
      {programs.length > 0 && (
        <Part title={programs.length === 1 ? "Program" : `${programs.length} programs`}>
          <ol className="flex flex-col gap-1">
            {programs.map((program, index) => (
              // The programs of a command keep their order.
              // oxlint-disable-next-line react/no-array-index-key
              <li key={index} className="flex gap-2">
                <span aria-hidden className="w-4 shrink-0 text-right font-mono text-xs leading-5 text-faint">
                  {index + 1}
                </span>
                <Whole text={program} />
              </li>
            ))}
          </ol>
        </Part>
      )}
      {command !== undefined && (
        <Part title={programs.length > 0 ? "Full command" : "Command"}>
          <Whole text={escapeHidden(command)} />
        </Part>
      )}
      {change !== undefined && <ChangeView change={change} />}
      <dl className="grid grid-cols-[fit-content(9rem)_minmax(0,1fr)] gap-x-3 gap-y-1">
        {factsOf(request).map(({ name, text }, index) => (
          // An input field may have the same name as another fact.
          // oxlint-disable-next-line react/no-array-index-key
          <div key={index} className="contents">
            <dt className="text-xs leading-5 [overflow-wrap:anywhere] text-faint">{name}</dt>
            <dd className="min-w-0">
              <Whole text={text} isPlain />
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <div className="flex flex-col gap-1">
      <p className="text-xs text-faint">{title}</p>
      {children}
    </div>
  );
}

function ChangeView({ change: { files, text } }: { readonly change: ShownChange }) {
  const { unseen, showAll } = useCard();
  return (
    <>
      {files.map(({ file, note }) => (
        <DiffView
          key={file.path}
          file={file}
          note={note}
          isWhole
          fold={unseen === undefined ? Infinity : MAX_LINES}
          onAll={showAll}
        />
      ))}
      {text !== undefined && (
        <Part title="Change">
          <Whole text={text} />
        </Part>
      )}
    </>
  );
}

/** Text that a person decides about. Long lines wrap, so that nothing is hidden beyond the edge. */
export function Whole({ text, isPlain = false }: { readonly text: string; readonly isPlain?: boolean }) {
  const { unseen, showAll } = useCard();
  const hidden = unseen === undefined ? 0 : text.length - MAX_CHARACTERS;
  const isLong = text.length > 600 || text.split("\n").length > 12;
  return (
    <div className="min-w-0 flex-1">
      <pre
        dir="ltr"
        {...(isLong && { tabIndex: 0, role: "region", "aria-label": "Text" })}
        className={`font-mono text-xs leading-5 [overflow-wrap:anywhere] whitespace-pre-wrap ${isPlain ? "" : "rounded-md bg-sunken px-2 py-1"} ${isLong ? "max-h-80 overflow-y-auto" : ""}`}
      >
        {hidden > 0 ? text.slice(0, MAX_CHARACTERS) : text}
      </pre>
      {hidden > 0 && (
        <button type="button" onClick={showAll} className="mt-1 text-xs font-medium text-accent underline">
          {thousands(hidden)} more characters not shown: show all
        </button>
      )}
    </div>
  );
}
