import { ShieldCheck } from "lucide-react";
import { useMemo } from "react";
import type { WireTrust } from "../../../src/client/index.ts";
import { escapeHidden } from "../../../src/words/hidden-text.ts";
import { changeOf } from "../approvals/card/change.ts";
import { useCaller } from "../caller.tsx";
import { Button } from "../parts/button.tsx";
import { DiffView } from "../parts/text/diff-view.tsx";
import { Ago } from "../parts/figures/figures.tsx";
import { Pill, type Tone } from "../parts/tone.tsx";
import { effectOf, isRecorded, shownPath, shownWidening, trustStateOf, type TrustState } from "./entry-facts.ts";

const KINDS: Readonly<Record<WireTrust["kind"], string>> = {
  settings: "project settings",
  variables: "variables",
  agent: "agent file",
  suite: "suite",
};

const STATES: Readonly<Record<TrustState, readonly [tone: Tone, label: string]>> = {
  new: ["waiting", "not trusted"],
  changed: ["waiting", "changed"],
  gone: ["waiting", "removed"],
  trusted: ["good", "trusted"],
  narrow: ["quiet", "nothing to trust"],
};

/** One file: what it widens, what changed, and what an admin can do about it. */
export function TrustEntry({
  entry,
  isBusy,
  onTrust,
  onRevoke,
}: {
  readonly entry: WireTrust;
  readonly isBusy: boolean;
  /** Not for people who may only look. */
  readonly onTrust: (() => void) | undefined;
  readonly onRevoke: (() => void) | undefined;
}) {
  const { project } = useCaller();
  const path = shownPath(entry, project);
  const state = trustStateOf(entry);
  const [tone, label] = STATES[state];
  const isOpen = state === "new" || state === "changed";
  return (
    <article aria-label={path} className="flex flex-col gap-3 p-3 text-sm">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="flex min-w-0 flex-wrap items-center gap-2">
          <code dir="ltr" className="font-mono font-medium [overflow-wrap:anywhere]">
            {path}
          </code>
          <span className="text-xs text-muted">{KINDS[entry.kind]}</span>
          <Pill tone={tone}>{label}</Pill>
        </p>
        {onRevoke !== undefined && entry.trusted_hash !== null && (
          <Button small look="danger" onClick={onRevoke}>
            Revoke<span className="sr-only"> trust in {path}</span>
          </Button>
        )}
      </div>
      <About entry={entry} state={state} />
      {entry.widens.length > 0 && <Widenings widens={entry.widens} />}
      {(isOpen || state === "gone") && entry.diff !== null && <Difference diff={entry.diff} project={project} />}
      {isOpen && onTrust !== undefined && (
        <div className="flex flex-wrap items-center gap-3">
          <Button look="primary" icon={<ShieldCheck className="size-4" />} disabled={isBusy} onClick={onTrust}>
            Trust this content<span className="sr-only"> of {path}</span>
          </Button>
          <span className="text-xs text-muted">
            Content hash <code className="font-mono">{entry.hash.slice(0, 12)}…</code>
          </span>
        </div>
      )}
    </article>
  );
}

function About({ entry, state }: { readonly entry: WireTrust; readonly state: TrustState }) {
  const { trusted_at: at, trusted_by: by } = entry;
  const who = <bdi className="font-medium text-text">{escapeHidden(by ?? "someone")}</bdi>;
  return (
    <p className="text-muted">
      {at !== null && (state === "changed" || state === "gone") && (
        <>
          {state === "gone" ? "Removed" : "Changed"} since {who} trusted it <Ago at={at} />.{" "}
        </>
      )}
      {at !== null && isRecorded(entry) && (
        <>
          Trusted by {who} <Ago at={at} />.{" "}
        </>
      )}
      {effectOf(entry)}
    </p>
  );
}

function Widenings({ widens }: Pick<WireTrust, "widens">) {
  return (
    <ul className="flex flex-col gap-2 rounded-md bg-sunken p-3">
      {widens.map((one) => {
        const { field, value, meaning } = shownWidening(one);
        return (
          <li key={one.text}>
            <p dir="ltr" className="font-mono text-xs [overflow-wrap:anywhere] whitespace-pre-wrap">
              <span className="font-semibold">{field}:</span> {value}
            </p>
            <p className="text-xs text-muted">{meaning}</p>
          </li>
        );
      })}
    </ul>
  );
}

/** All of it: nobody trusts lines that were folded away. */
function Difference({ diff, project }: { readonly diff: string; readonly project: string }) {
  const change = useMemo(() => changeOf(diff), [diff]);
  return (
    <div className="flex flex-col gap-2">
      {change?.files.map(({ file, note }) => (
        <DiffView
          key={file.path}
          file={{ ...file, path: shownPath(file, project) }}
          note={note}
          fold={Infinity}
          isWhole
        />
      ))}
      {change?.text !== undefined && (
        <pre className="rounded-md bg-sunken p-3 font-mono text-xs [overflow-wrap:anywhere] whitespace-pre-wrap">
          {change.text}
        </pre>
      )}
    </div>
  );
}
