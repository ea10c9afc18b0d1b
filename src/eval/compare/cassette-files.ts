import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { fileNameOf } from "../../core/paths/file-name.ts";
import { type Cassette, cassette, CASSETTE_FORMAT } from "../../core/suite/cassette.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import type { Case, Suite } from "../../core/suite/suite.ts";

/** Next to the suite: a directory for each suite and a file for each trial. */
export function cassettePath({ file }: Pick<Suite, "file">, { name }: Pick<Case, "name">, trial: number): string {
  const suffix = trial === 1 ? "" : `.${trial}`;
  return join(cassetteDirectory(file), `${fileNameOf(name)}${suffix}.json`);
}

export function cassetteDirectory(suiteFile: string): string {
  return join(dirname(suiteFile), "cassettes", basename(suiteFile).replace(/\.ya?ml$/, ""));
}

/** Undefined if there is none. Throws if the file is not a cassette, or has another format. */
export async function readCassette(path: string): Promise<Cassette | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw brokenCassette(path, messageOf(error));
  }
  return cassetteIn(text, path);
}

function cassetteIn(text: string, path: string): Cassette {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw brokenCassette(path, "it is not complete JSON: it was cut off or edited");
  }
  const { format } = (value ?? {}) as { readonly format?: unknown };
  if (format !== CASSETTE_FORMAT)
    throw brokenCassette(path, `its format is ${JSON.stringify(format)}, not ${CASSETTE_FORMAT}`);
  const parsed = cassette.safeParse(value);
  if (parsed.success) return withTexts(parsed.data, path);
  const [issue] = parsed.error.issues;
  throw brokenCassette(path, `it was edited, at ${issue?.path.join(".") || "its top level"}: ${issue?.message ?? ""}`);
}

const toolList = z.array(z.looseObject({ name: z.string().optional() }));

function withTexts(read: Cassette, path: string): Cassette {
  const exchanges = read.threads.flatMap((thread) => thread.exchanges);
  const named = exchanges.flatMap(({ instructions, tools }) => [instructions, tools]);
  const missing = named.find((hash) => !Object.hasOwn(read.texts, hash));
  if (missing !== undefined) throw brokenCassette(path, `it refers to the text ${missing}, which it does not contain`);
  const odd = exchanges.find(({ tools }) => !toolList.safeParse(read.texts[tools]).success);
  if (odd !== undefined) throw brokenCassette(path, `it was edited, at texts.${odd.tools}: expected a list of tools`);
  return read;
}

function brokenCassette(path: string, why: string): CapstanError {
  return new CapstanError(
    "invalid_cassette",
    `The cassette ${path} cannot be used: ${why}. Delete it and record the case again: capstan test --record`,
    { data: { file: path } },
  );
}

/** Writes all or nothing. */
export async function writeCassette(path: string, content: Cassette): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const partial = `${path}.partial`;
  await writeFile(partial, `${JSON.stringify(content, null, 2)}\n`, { flush: true });
  await rename(partial, path);
}
