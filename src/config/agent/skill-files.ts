import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { CapstanError } from "../../core/errors.ts";
import { MAX_SKILL_BYTES, type Skills } from "../../core/agent/skill-schema.ts";
import { isFaithful, noteRead, reasonOf } from "../yaml/text-file.ts";
import { parseYaml } from "../yaml/yaml-file.ts";

type SkillFiles = Skills[string]["files"];

const MAIN = "SKILL.md";
const MAX_FILES = 500;

/** The required fields of a skill. There may be more, such as a license. */
const head = z.looseObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "up to 64 lower-case letters, digits and dashes"),
  description: z.string().trim().min(1).max(1024),
});

export interface ReadSkill {
  readonly name: string;
  readonly files: SkillFiles;
}

/** A skill with all its files. Throws `invalid_agent`, naming the file that is wrong. */
export function readSkill(directory: string): ReadSkill {
  const kind = kindOf(directory);
  if (kind !== "directory") throw wrong(directory, `expected a directory with a file ${MAIN} (found ${kind})`);
  const files = filesIn(directory);
  const main = files[MAIN];
  if (main === undefined) throw wrong(directory, `expected a file ${MAIN} in this directory (found none)`);
  const { name } = readHead(main.content, join(directory, MAIN));
  return { name, files };
}

function readHead(text: string, file: string): z.infer<typeof head> {
  const [, yaml] = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*$/m.exec(text) ?? [];
  if (yaml === undefined || !text.startsWith("---"))
    throw wrong(`${file}:1:1`, "expected --- followed by name and description, and another ---");
  // A blank line replaces the first ---, so that line numbers match the file.
  return parseYaml(`\n${yaml}`, { file, code: "invalid_agent", schema: head });
}

function filesIn(directory: string): SkillFiles {
  const files: SkillFiles = {};
  let size = 0;
  const walk = (below: string): void => {
    for (const entry of list(join(directory, below))) {
      const name = join(below, entry);
      const path = join(directory, name);
      const kind = kindOf(path);
      if (kind === "directory") walk(name);
      else if (kind === "a file") {
        files[name] = contentOf(path);
        size += files[name].content.length;
        if (size > MAX_SKILL_BYTES)
          throw wrong(directory, `its files have more than ${MAX_SKILL_BYTES} bytes; ${path} exceeds the limit`);
        if (Object.keys(files).length > MAX_FILES)
          throw wrong(directory, `it has more than ${MAX_FILES} files; ${path} exceeds the limit`);
      } else throw wrong(path, `expected a regular file (found ${kind}); put the file itself there`);
    }
  };
  walk("");
  return files;
}

type Kind = "a file" | "directory" | "a symbolic link" | "nothing" | "something else";

function kindOf(path: string): Kind {
  const stats = explainReadErrors(path, () => lstatSync(path, { throwIfNoEntry: false }));
  if (stats === undefined) return "nothing";
  if (stats.isSymbolicLink()) return "a symbolic link";
  if (stats.isDirectory()) return "directory";
  return stats.isFile() ? "a file" : "something else";
}

/** Always in the same order: what is saved must not depend on the disk. */
function list(path: string): string[] {
  return explainReadErrors(path, () => readdirSync(path)).toSorted();
}

function contentOf(path: string): SkillFiles[string] {
  const bytes = explainReadErrors(path, () => {
    const { size } = lstatSync(path);
    if (size > MAX_SKILL_BYTES)
      throw new Error(`it has ${size} bytes, but all skills together may have at most ${MAX_SKILL_BYTES}`);
    return readFileSync(path);
  });
  noteRead(path, bytes);
  const content = bytes.toString("utf8");
  return isFaithful(content, bytes)
    ? { content, encoding: "utf8" }
    : { content: bytes.toString("base64"), encoding: "base64" };
}

function explainReadErrors<Value>(path: string, look: () => Value): Value {
  try {
    return look();
  } catch (error) {
    throw wrong(path, `cannot be read: ${reasonOf(error)}`);
  }
}

function wrong(place: string, text: string): CapstanError {
  return new CapstanError("invalid_agent", `${place} ${text}`);
}
