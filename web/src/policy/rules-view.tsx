import type { WireAgent } from "../../../src/client/index.ts";
import { Pill, type Tone } from "../parts/tone.tsx";
import { ModePill, MODE_WORDS } from "./modes.tsx";
import { duration } from "../../../src/words/amounts.ts";

export type Permissions = WireAgent["definition"]["permissions"];

/** The rules of an agent, in order of evaluation. */
export function RulesView({ permissions }: { readonly permissions: Permissions }) {
  const { mode, deny, ask, allow, approvals_expire_ms: expire } = permissions;
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-2 text-sm">
      <dt className="text-muted">mode</dt>
      <dd>
        <ModePill mode={mode} /> <span className="text-muted">{MODE_WORDS[mode]}</span>
      </dd>
      <Rules name="deny" tone="bad" rules={deny} />
      <Rules
        name="ask"
        tone="waiting"
        rules={ask.map((entry) =>
          typeof entry === "string" || entry.remember
            ? ruleOf(entry)
            : `${ruleOf(entry)} (answers cannot be remembered)`,
        )}
      />
      <Rules name="allow" tone="good" rules={allow} />
      {expire !== undefined && (
        <>
          <dt className="text-muted">expiry</dt>
          <dd>approvals are denied after {duration(expire)} without an answer</dd>
        </>
      )}
    </dl>
  );
}

function ruleOf(entry: Permissions["ask"][number]): string {
  return typeof entry === "string" ? entry : entry.rule;
}

function Rules({
  name,
  tone,
  rules,
}: {
  readonly name: string;
  readonly tone: Tone;
  readonly rules: readonly string[];
}) {
  return (
    <>
      <dt>
        <Pill tone={rules.length === 0 ? "quiet" : tone}>{name}</Pill>
      </dt>
      <dd className="min-w-0">
        {rules.length === 0 ? (
          <span className="text-faint">no rule</span>
        ) : (
          <ul className="flex flex-col gap-1">
            {rules.map((rule) => (
              <li key={rule} className="font-mono text-xs leading-5 break-words">
                {rule}
              </li>
            ))}
          </ul>
        )}
      </dd>
    </>
  );
}
