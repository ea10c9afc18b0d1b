import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AgentDefinition } from "../core/agent/agent-definition.ts";
import type { EngineRequest } from "../core/ports/engine.ts";
import { CapstanError } from "../core/errors.ts";

/** Present if and only if the agent has skills: without any, the CLI would offer its own. */
export const SKILL_TOOL = "Skill";

/** The CLI's prefix for the names, because the skills are those of a plugin. */
export const PLUGIN = "agent";

/** Fields that a skill must not set, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  hooks:
    "a skill's hooks would run commands without a permission decision, so they are disabled. Move them to the agent's hooks",
  context: "a skill runs in the context of its caller. Use a subagent for work that needs its own context",
  "disable-model-invocation": "only the model can call a skill here, so nothing could use it",
};

/** Throws for a skill that the model could not find, or that asks for unsupported features. */
export function requireUsableSkills({ skills = {} }: Pick<AgentDefinition, "skills">): void {
  for (const [name, { files }] of Object.entries(skills)) {
    const refuse = (problem: string): never => {
      throw new CapstanError("invalid_agent", `skills.${name}: SKILL.md ${problem}.`);
    };
    const fields = headOf(files["SKILL.md"]?.content ?? "");
    if (fields.get("description") === undefined)
      refuse("has no description between two lines of --- at its top. The model needs one to find the skill");
    const own = fields.get("name");
    if (own !== undefined && own !== name)
      refuse(`has the name ${own}, but rules would use ${name}. Use the same name for both`);
    for (const [field, why] of Object.entries(REFUSED)) if (fields.has(field)) refuse(`has ${field}: ${why}`);
  }
}

/** The fields at the top of a skill's file that fit on one line. */
function headOf(text: string): ReadonlyMap<string, string | undefined> {
  const [, head = ""] = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*$/m.exec(text) ?? [];
  const lines = [...head.matchAll(/^(?:\?[ \t]*)?(["']?)([\w-]+)\1[ \t]*(?::[ \t]*(.*?))?[ \t\r]*$/gm)];
  return new Map(lines.map(([, , field = "", value = ""]) => [field, value.replace(/^(["'])(.*)\1$/, "$2")]));
}

/** The description that the model sees. */
export function descriptionOf(text: string): string {
  return headOf(text).get("description") ?? "";
}

/** The text below the fields. */
export function bodyOf(text: string): string {
  return text.replace(/^---[ \t]*\r?\n[\s\S]*?^---[ \t]*\r?\n?/m, "").trim();
}

/** Where the skills of a session are; undefined if it has none. */
export function skillsDirectory({ agent, stateDir }: Pick<EngineRequest, "agent" | "stateDir">): string | undefined {
  return Object.keys(agent.skills ?? {}).length === 0 ? undefined : join(stateDir, "plugin");
}

/** Writes the skills for a process from the definition, even if their source files have changed. */
export function writeSkills(request: Pick<EngineRequest, "agent" | "stateDir">): void {
  const root = skillsDirectory(request);
  if (root === undefined) return;
  rmSync(root, { recursive: true, force: true });
  const write = (path: string, content: string | Buffer): void => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, content, { mode: 0o600, flag: "wx" });
  };
  write(join(".claude-plugin", "plugin.json"), JSON.stringify({ name: PLUGIN, version: "1.0.0" }));
  for (const [name, { files }] of Object.entries(request.agent.skills ?? {}))
    for (const [path, { content, encoding }] of Object.entries(files))
      write(join("skills", name, path), Buffer.from(content, encoding));
}
