import type { ReactNode } from "react";
import { FoldedText } from "../parts/text/code.tsx";
import { Card } from "../parts/page.tsx";
import { Pill, type Tone } from "../parts/tone.tsx";
import { Tree } from "../parts/text/tree.tsx";
import type { Definition } from "./agent-file.ts";
import { duration } from "../../../src/words/amounts.ts";

export function Facts({ facts }: { readonly facts: Readonly<Record<string, ReactNode>> }) {
  const entries = Object.entries(facts);
  if (entries.length === 0) return null;
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
      {entries.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface Entry {
  readonly name: string;
  readonly about: string;
  readonly facts?: Readonly<Record<string, ReactNode>>;
  /** Long text, collapsed. */
  readonly text?: string;
}

/** A list of named entries. */
export function Named({ entries }: { readonly entries: readonly Entry[] }) {
  return (
    <Card className="divide-y divide-line">
      {entries.map(({ name, about, facts, text }) => (
        <div key={name} className="flex flex-col gap-1 p-3">
          <p className="text-sm break-words">
            <span className="font-mono text-xs font-medium break-all">{name}</span>
            {about !== "" && (
              <span dir="auto" className="text-muted">
                {" "}
                · {about}
              </span>
            )}
          </p>
          {facts !== undefined && <Facts facts={facts} />}
          {text !== undefined && <FoldedText text={text} lines={4} />}
        </div>
      ))}
    </Card>
  );
}

const POLICIES: Readonly<Record<string, Tone>> = { allow: "good", ask: "waiting", deny: "bad" };

/** The server masks their secrets; they never reach the browser. */
export function Servers({ servers }: { readonly servers: NonNullable<Definition["mcp_servers"]> }) {
  return (
    <Named
      entries={Object.entries(servers).map(([name, server]) => {
        const isRemote = "url" in server;
        const given = Object.entries(isRemote ? server.headers : server.env);
        return {
          name,
          about: isRemote ? server.type : "a program on the server's machine",
          facts: {
            [isRemote ? "address" : "command"]: (
              <code className="font-mono text-xs break-all">
                {isRemote ? server.url : [server.command, ...server.args].join(" ")}
              </code>
            ),
            ...(given.length > 0 && {
              [isRemote ? "headers" : "variables"]: (
                <code className="font-mono text-xs break-all">
                  {given.map(([key, value]) => `${key}=${value}`).join(" ")}
                </code>
              ),
            }),
            ...(!isRemote && server.outside_sandbox === true && { sandbox: "runs outside it" }),
            ...(server.tools !== undefined && {
              tools: (
                <span className="flex flex-wrap gap-1.5">
                  {Object.entries(server.tools).map(([tool, policy]) => (
                    <Pill key={tool} tone={POLICIES[policy] ?? "quiet"}>
                      {tool}: {policy}
                    </Pill>
                  ))}
                </span>
              ),
            }),
          },
        };
      })}
    />
  );
}

export function CustomTools({ tools }: { readonly tools: NonNullable<Definition["custom_tools"]> }) {
  return (
    <Card className="divide-y divide-line">
      {tools.map(({ name, description, input_schema: schema }) => (
        <div key={name} className="flex flex-col gap-1 p-3">
          <p className="text-sm break-words">
            <span className="font-mono text-xs font-medium break-all">{name}</span>
            <span dir="auto" className="text-muted">
              {" "}
              · {description}
            </span>
          </p>
          <Tree value={schema} name="input" depth={2} />
        </div>
      ))}
    </Card>
  );
}

type AllHooks = NonNullable<Definition["hooks"]>;
const KINDS: Readonly<Record<keyof AllHooks, string>> = {
  before_prompt: "Before a message reaches the model",
  before_tool: "Before a tool call",
  after_tool: "After a tool call",
  on_turn_end: "At the end of each turn",
  on_session_end: "At the end of the session",
};

export function Hooks({ hooks }: { readonly hooks: AllHooks }) {
  const entries = (Object.keys(KINDS) as (keyof AllHooks)[]).flatMap((kind) =>
    (hooks[kind] ?? []).map((hook, index) => ({
      name: hook.name ?? `${kind} ${index + 1}`,
      about: KINDS[kind],
      facts: {
        command: (
          <code className="font-mono text-xs break-all">
            {typeof hook.command === "string" ? hook.command : hook.command.join(" ")}
          </code>
        ),
        ...("matcher" in hook && typeof hook.matcher === "string" && { "only for": hook.matcher }),
        ...(hook.timeout_ms !== undefined && { "times out after": duration(hook.timeout_ms) }),
        ...("on_failure" in hook &&
          hook.on_failure !== undefined && {
            "when it fails": hook.on_failure === "deny" ? "deny" : "continue",
          }),
      },
    })),
  );
  return <Named entries={entries} />;
}
