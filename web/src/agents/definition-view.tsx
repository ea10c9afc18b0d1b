import type { ReactNode } from "react";
import { CopyButton } from "../parts/text/code.tsx";
import { Card, Section } from "../parts/page.tsx";
import { Tree } from "../parts/text/tree.tsx";
import { RulesView } from "../policy/rules-view.tsx";
import type { Definition } from "./agent-file.ts";
import { CustomTools, Facts, Hooks, Named, Servers } from "./definition-parts.tsx";
import { duration, money, thousands } from "../../../src/words/amounts.ts";

/** An agent's definition in readable form. Absent parts are left out. */
export function DefinitionView({ definition }: { readonly definition: Definition }) {
  const { permissions, subagents, mcp_servers: servers, skills, hooks, custom_tools: custom } = definition;
  const { output_schema: schema, commands, inputs, functions } = definition;
  return (
    <div className="flex flex-col gap-6 pt-2">
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <Section title="Model and engine">
          <Framed>
            <Facts facts={basics(definition)} />
          </Framed>
        </Section>
        <Section title="Session budget">
          <Framed>
            <Facts facts={limits(definition.budget)} />
            {Object.keys(definition.budget).length === 0 && (
              <p className="text-sm text-muted">Inherited from the settings.</p>
            )}
          </Framed>
        </Section>
      </div>
      <Instructions definition={definition} />
      <Section title="Tools">
        <Framed>
          {definition.tools.length === 0 && <p className="text-sm text-muted">No built-in tools.</p>}
          <ul aria-label="Built-in tools" className="flex flex-wrap gap-1.5">
            {definition.tools.map((tool) => (
              <li key={tool} className="rounded-sm bg-sunken px-1.5 font-mono text-xs leading-5">
                {tool}
              </li>
            ))}
          </ul>
        </Framed>
      </Section>
      <Section title="Permissions">
        <Framed>
          <RulesView permissions={permissions} />
        </Framed>
      </Section>
      {servers !== undefined && Object.keys(servers).length > 0 && (
        <Section title="MCP servers">
          <Servers servers={servers} />
        </Section>
      )}
      {Object.keys(subagents).length > 0 && (
        <Section title="Subagents">
          <Named
            entries={Object.entries(subagents).map(([name, { description, instructions, tools, model }]) => ({
              name,
              about: description,
              facts: { tools: tools?.join(", ") ?? "the agent's tools", model: model ?? "the agent's model" },
              text: instructions,
            }))}
          />
        </Section>
      )}
      {custom !== undefined && custom.length > 0 && (
        <Section title="Custom tools">
          <CustomTools tools={custom} />
        </Section>
      )}
      {functions !== undefined && functions.length > 0 && (
        <Section title="Server functions">
          <Named
            entries={functions.map(({ module, exports }) => ({
              name: module,
              about: exports === undefined ? "all tools of the module" : exports.join(", "),
            }))}
          />
        </Section>
      )}
      {skills !== undefined && Object.keys(skills).length > 0 && (
        <Section title="Skills">
          <Named
            entries={Object.entries(skills).map(([name, { files }]) => ({
              name,
              about: Object.keys(files).join(", "),
              ...(files["SKILL.md"]?.encoding === "utf8" && { text: files["SKILL.md"].content }),
            }))}
          />
        </Section>
      )}
      {hooks !== undefined && Object.keys(hooks).length > 0 && (
        <Section title="Hooks">
          <Hooks hooks={hooks} />
        </Section>
      )}
      {inputs !== undefined && Object.keys(inputs).length > 0 && (
        <Section title="Inputs">
          <Named
            entries={Object.entries(inputs).map(([name, { type, description = "", ...rest }]) => ({
              name,
              about: description,
              facts: {
                type: "enum" in rest && rest.enum !== undefined ? rest.enum.join(", ") : type,
                default: rest.default === undefined ? "none: it must be given" : String(rest.default),
              },
            }))}
          />
        </Section>
      )}
      {commands !== undefined && Object.keys(commands).length > 0 && (
        <Section title="Commands">
          <Named
            entries={Object.entries(commands).map(([name, { description = "", prompt }]) => ({
              name: `/${name}`,
              about: description,
              text: prompt,
            }))}
          />
        </Section>
      )}
      {schema !== undefined && (
        <Section title="Output schema">
          <Framed>
            <Tree value={schema} />
          </Framed>
        </Section>
      )}
    </div>
  );
}

function Framed({ children }: { readonly children: ReactNode }) {
  return <Card className="flex flex-col gap-2 p-3">{children}</Card>;
}

function Instructions({ definition: { instructions, instructions_mode: mode } }: { readonly definition: Definition }) {
  return (
    <Section
      title="Instructions"
      actions={instructions !== "" && <CopyButton text={instructions} label="Copy instructions" />}
    >
      <Framed>
        <p className="text-xs text-muted">
          {mode === "append" ? "Appended to Claude Code's system prompt." : "Replaces the system prompt."}
        </p>
        {instructions === "" ? (
          <p className="text-sm text-muted">None.</p>
        ) : (
          // Not rendered: shown as the model reads them. Long ones scroll, also by keyboard.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          <div
            role="region"
            aria-label="Instructions"
            tabIndex={0}
            dir="auto"
            className="max-h-128 overflow-y-auto text-sm break-words whitespace-pre-wrap"
          >
            {instructions}
          </div>
        )}
      </Framed>
    </Section>
  );
}

function basics(definition: Definition): Record<string, ReactNode> {
  const { name, engine, model, fallback_model: fallback, effort, thinking, auth } = definition;
  const { setting_sources: sources, compact_at: size } = definition;
  return {
    name: <code className="font-mono text-xs break-all">{name}</code>,
    ...(engine !== undefined && { engine }),
    model: <code className="font-mono text-xs break-all">{model}</code>,
    ...(fallback !== undefined && {
      "while overloaded": <code className="font-mono text-xs break-all">{fallback}</code>,
    }),
    ...(effort !== undefined && { effort }),
    ...(thinking !== undefined && {
      thinking: typeof thinking === "string" ? thinking : `${thousands(thinking.budget_tokens)} tokens`,
    }),
    ...(size !== undefined && { "summarized at": `${thousands(size)} tokens` }),
    provider: auth ?? "the server's default",
    "CLAUDE.md":
      sources === undefined || sources.length === 0 ? "not read" : "read from the workspace, after the instructions",
  };
}

const LIMITS: Readonly<Record<keyof Definition["budget"], (value: number) => string>> = {
  usd: (value) => money(value),
  tokens: thousands,
  input_tokens: thousands,
  output_tokens: thousands,
  cache_tokens: thousands,
  turns: String,
  steps: (value) => `${value} model responses per turn`,
  tool_calls: String,
  deadline_ms: (value) => `${duration(value)} per turn`,
  warn_at: (value) => `${Math.round(value * 100)}% of a limit`,
  ask_at: (value) => `${Math.round(value * 100)}% of a limit`,
};

function limits(budget: Definition["budget"]): Record<string, ReactNode> {
  return Object.fromEntries(
    Object.entries(budget).map(([name, value]) => [
      name.replace(/_ms$/, "").replaceAll("_", " "),
      LIMITS[name as keyof Definition["budget"]](value),
    ]),
  );
}
