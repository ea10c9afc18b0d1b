import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { messageOf } from "../../core/errors.ts";
import type { Prompts } from "./ask-prompts.ts";

export type ToolInput = Readonly<Record<string, unknown>>;

/** Lets the person edit the input; undefined if they changed nothing or canceled. */
export async function editInput(input: ToolInput, prompts: Prompts): Promise<ToolInput | undefined> {
  const editor = process.env["VISUAL"] || process.env["EDITOR"];
  const edited = editor ? await inEditor(input, { editor, prompts }) : await inLine(input, prompts);
  return edited === undefined || JSON.stringify(edited) === JSON.stringify(input) ? undefined : edited;
}

const HEAD = "# Input of the call, as YAML or JSON. It runs once with what you save.\n";

async function inEditor(
  input: ToolInput,
  { editor, prompts }: { editor: string; prompts: Prompts },
): Promise<ToolInput | undefined> {
  // The input is unredacted, so only the owner may read the file: mkdtemp creates directories with mode 0700.
  const directory = mkdtempSync(join(tmpdir(), "capstan-edit-"));
  const file = join(directory, "input.yaml");
  try {
    writeFileSync(file, HEAD + stringify(input, { lineWidth: 0 }), { mode: 0o600 });
    for (;;) {
      const failed = await open(editor, file);
      const read = failed ?? readInput(readFileSync(file, "utf8"));
      if (typeof read !== "string") return read;
      if ((await prompts.choose(read, [EDIT_AGAIN, BACK])) !== "again") return undefined;
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const EDIT_AGAIN = { value: "again", label: "Edit again" } as const;
const BACK = { value: "back", label: "Back, without changes" } as const;

/** Resolves to an error message, or undefined. A shell reads the variable, which may contain arguments (`code --wait`). */
async function open(editor: string, file: string): Promise<string | undefined> {
  const child = spawn("/bin/sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit" });
  const code = await new Promise<number | null | Error>((done) => child.once("error", done).once("exit", done));
  if (code === 0) return undefined;
  return `The editor (${editor}) failed: ${code instanceof Error ? code.message : `exit code ${code ?? "?"}`}.`;
}

async function inLine(input: ToolInput, prompts: Prompts): Promise<ToolInput | undefined> {
  const { command } = input;
  if (typeof command === "string" && !command.includes("\n")) {
    const text = await prompts.line("Command to run instead ($EDITOR is not set):", {
      initial: command,
      validate: (given) => (given.trim() === "" ? "Enter a command." : undefined),
    });
    return text === undefined ? undefined : { ...input, command: text };
  }
  const text = await prompts.line("Input as JSON ($EDITOR is not set):", {
    initial: JSON.stringify(input),
    validate: (given) => {
      const read = readInput(given);
      return typeof read === "string" ? read : undefined;
    },
  });
  return text === undefined ? undefined : (readInput(text) as ToolInput);
}

/** Parses YAML or JSON; returns an error message if that fails. */
export function readInput(text: string): ToolInput | string {
  try {
    const value: unknown = parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as ToolInput;
    return "The input must be an object with the tool's fields.";
  } catch (thrown) {
    return `Cannot read the input: ${messageOf(thrown).split("\n")[0] ?? ""}`;
  }
}
