import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AgentDefinition } from "../core/agent/agent-definition.ts";
import type { EngineRequest } from "../core/ports/engine.ts";
import { CapstanError } from "../core/errors.ts";

/** Skills come with it, and it with them: without any the CLI would offer its own. */
export const SKILL_TOOL = "Skill";

/** What the CLI puts before the names: they are those of a plugin. */
export const PLUGIN = "agent";

/** What a skill may not say of itself, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  hooks:
    "hooks of a skill would be commands that nobody decides about, and do not run. Put them into the agent's hooks",
  context: "a skill is read by whoever calls it. Make a subagent of what is to have a context of its own",
  "disable-model-invocation": "nobody but the model could call it, so it could not be used at all",
};

/** Throws when a skill could not be found by the model, or wants what it cannot have here. */
export function requireUsableSkills({ skills = {} }: Pick<AgentDefinition, "skills">): void {
  for (const [name, { files }] of Object.entries(skills)) {
    const refuse = (problem: string): never => {
      throw new CapstanError("invalid_agent", `skills.${name}: SKILL.md ${problem}.`);
    };
    const fields = headOf(files["SKILL.md"]?.content ?? "");
    if (fields.get("description") === undefined)
      refuse("has no description between two lines of --- at its top, by which the model would know of it");
    const own = fields.get("name");
    if (own !== undefined && own !== name)
      refuse(`says that its name is ${own}, and rules would speak of ${name}. Give both one name`);
    for (const [field, why] of Object.entries(REFUSED)) if (fields.has(field)) refuse(`has ${field}: ${why}`);
  }
}

/** The fields at the top of a skill's file, as far as they stand in one line. */
function headOf(text: string): ReadonlyMap<string, string | undefined> {
  const [, head = ""] = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*$/m.exec(text) ?? [];
  const lines = [...head.matchAll(/^(?:\?[ \t]*)?(["']?)([\w-]+)\1[ \t]*(?::[ \t]*(.*?))?[ \t\r]*$/gm)];
  return new Map(lines.map(([, , field = "", value = ""]) => [field, value.replace(/^(["'])(.*)\1$/, "$2")]));
}

/** By which the model knows of a skill. */
export function descriptionOf(text: string): string {
  return headOf(text).get("description") ?? "";
}

/** What a skill's file says below its fields. */
export function bodyOf(text: string): string {
  return text.replace(/^---[ \t]*\r?\n[\s\S]*?^---[ \t]*\r?\n?/m, "").trim();
}

/** Where the skills of a session lie; undefined when it has none. */
export function skillsDirectory({ agent, stateDir }: Pick<EngineRequest, "agent" | "stateDir">): string | undefined {
  return Object.keys(agent.skills ?? {}).length === 0 ? undefined : join(stateDir, "plugin");
}

/** Writes the skills for a process, as the definition has them: whatever became of the files they were read from. */
export function writeSkills(request: Pick<EngineRequest, "agent" | "stateDir">): void {
  const root = skillsDirectory(request);
  if (root === undefined) return;
  rmSync(root, { recursive: true, force: true });
  const write = (path: string, content: string | Buffer): void => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, content, { mode: 0o600 });
  };
  write(join(".claude-plugin", "plugin.json"), JSON.stringify({ name: PLUGIN, version: "1.0.0" }));
  for (const [name, { files }] of Object.entries(request.agent.skills ?? {}))
    for (const [path, { content, encoding }] of Object.entries(files))
      write(join("skills", name, path), Buffer.from(content, encoding));
}
