import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { homeDirectory } from "../../config/project/home.ts";
import { reasonOf } from "../../config/yaml/text-file.ts";
import { agentDefinition } from "../../core/agent/agent-definition.ts";
import { CapstanError } from "../../core/errors.ts";
import { usageError } from "../terminal/failure.ts";
import { color } from "../terminal/text.ts";
import { aroundAgent } from "./project-files.ts";
import type { Template } from "./template.ts";
import { assistant } from "./templates/assistant.ts";
import { extractor } from "./templates/extractor.ts";
import { reviewer } from "./templates/reviewer.ts";

export const TEMPLATES = { assistant, reviewer, extractor } as const satisfies Record<string, Template>;

export type TemplateName = keyof typeof TEMPLATES;

export interface InitFlags {
  readonly template?: TemplateName;
  readonly name?: string;
  readonly yes?: boolean;
}

/** The agent to create. */
export interface AgentChoice {
  readonly template: TemplateName;
  readonly name: string;
}

/** Creates a new agent. Never overwrites a file. */
export async function init(directory: string, flags: InitFlags): Promise<void> {
  const place = resolve(directory);
  const choice = await choose(place, flags);
  if (choice === undefined) return;
  const template = TEMPLATES[choice.template];
  const { schema, dotEnv, files: around } = aroundAgent(place);
  const files = template.files({ name: choice.name, schema });
  const existing = Object.keys(files).filter((file) => existsSync(join(place, file)));
  if (existing.length > 0)
    throw usageError(
      `${existing.join(", ")} already ${existing.length === 1 ? "exists" : "exist"} in ${place}, so nothing was written. Choose another directory: capstan init DIR`,
    );
  const all = { ...files, ...around };
  for (const [file, text] of Object.entries(all)) write(join(place, file), text);
  const ignored = ignoreSecrets(place);
  await trustNew(place, all);
  process.stdout.write(summary(directory, { files: [...Object.keys(all), ...ignored], template, dotEnv }));
}

/** Undefined if the person cancels. */
async function choose(place: string, { template, name, yes }: InitFlags): Promise<AgentChoice | undefined> {
  if (name !== undefined) requireName(name);
  const defaults: AgentChoice = { template: template ?? "assistant", name: name ?? nameFrom(basename(place)) };
  const isAsked = yes !== true && (template === undefined || name === undefined);
  if (!isAsked || !process.stdin.isTTY || !process.stdout.isTTY) return defaults;
  const { ask } = await import("./questions.ts");
  return ask(defaults, { template, name });
}

function requireName(name: string): void {
  const problem = problemWithName(name);
  if (problem !== undefined) throw usageError(`--name ${JSON.stringify(name)} is not a valid agent name: ${problem}.`);
}

export function problemWithName(name: string): string | undefined {
  return agentDefinition.shape.name.safeParse(name).error?.issues[0]?.message;
}

/** Derives a valid name from the directory's name. */
function nameFrom(directory: string): string {
  const name = directory
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^[^a-z]+|-+$/g, "")
    .slice(0, 63);
  return problemWithName(name) === undefined ? name : "assistant";
}

/** Trusts the new files, which the person has just requested. */
async function trustNew(place: string, files: Readonly<Record<string, string>>): Promise<void> {
  const [{ isAgent }, { itemsAt }, { TrustBook }, { trustWritten }] = await Promise.all([
    import("../terminal/person.ts"),
    import("../trust/trust.ts"),
    import("../../config/trust/trust-book.ts"),
    import("../../config/trust/trust-written.ts"),
  ]);
  if (await isAgent()) return;
  const book = new TrustBook(homeDirectory(process.env).path);
  const real = realpathSync.native(place);
  const texts = new Map(Object.entries(files).map(([file, text]) => [join(real, file), text]));
  const items = await itemsAt([real], real).catch((thrown: unknown) => {
    // The next command reports what is wrong with the project.
    if (thrown instanceof CapstanError) return [];
    throw thrown;
  });
  trustWritten(items, { book, texts, by: "capstan init" });
}

const IGNORED = ".env";

/** Keeps the file with keys out of the repository. */
function ignoreSecrets(place: string): string[] {
  const file = join(place, ".gitignore");
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (text.split("\n").some((line) => line.trim() === IGNORED)) return [];
  writeFileSync(file, `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${IGNORED}\n`);
  return [text === "" ? ".gitignore" : ".gitignore (added .env)"];
}

function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    // Fails if another process has created the file.
    writeFileSync(path, text, { flag: "wx" });
  } catch (error) {
    throw new CapstanError("invalid_input", `Cannot write ${path}: ${reasonOf(error)}.`, { cause: error });
  }
}

function summary(
  directory: string,
  {
    files,
    template,
    dotEnv,
  }: { readonly files: readonly string[]; readonly template: Template; readonly dotEnv: string | undefined },
): string {
  const enter = resolve(directory) === process.cwd() ? [] : [`cd ${quote(directory)}`];
  const commands = [
    ...enter,
    "capstan validate",
    `capstan run --rehearsal --agent agent.yaml ${quote(template.firstMessage)}`,
    "capstan test --rehearsal",
    "capstan chat agent.yaml --rehearsal",
  ];
  return [
    ...files.map((file) => `${color.green("✓")} ${file}`),
    "",
    "Next:",
    ...commands.map((command) => `  ${command}`),
    "",
    `To use a real model, run capstan auth login (or set ANTHROPIC_API_KEY in the shell${dotEnv === undefined ? "" : ` or in ${dotEnv}`}) and omit --rehearsal.`,
    "",
  ].join("\n");
}

function quote(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `"${word.replaceAll(/["\\$`]/g, String.raw`\$&`)}"`;
}
