import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createRedactor } from "../../../src/core/redaction/redaction.ts";
import { MAX_OUTPUT_BYTES, MAX_SESSION_OUTPUT_BYTES } from "../../../src/core/tool-output/tool-outputs.ts";
import { persistedOutput } from "../../../src/engines/claude/results/persisted-output.ts";
import { keepOutput } from "../../../src/runtime/outputs/keep-output.ts";
import { toolOutputsIn } from "../../../src/store/sqlite/outputs/tool-outputs.ts";
import { temporaryDirectory } from "../../support/host.ts";

const SECRET = "correct-horse-battery";
const redactor = createRedactor({ secrets: [{ name: "KEY", value: SECRET }] });

type Deps = Parameters<typeof keepOutput>[0];

/** Only what it uses of a session: its id, its log's redactor, and the real files. */
function deps(root: string, size?: number): Deps {
  const toolOutputs = toolOutputsIn(join(root, "outputs"));
  return {
    record: { id: "sesn_one" },
    log: { withoutSecrets: (text: string) => redactor.text(text) },
    store: { toolOutputs: size === undefined ? toolOutputs : { ...toolOutputs, size: async () => size } },
  } as unknown as Deps;
}

test("an output that is too large loses its middle, says so, and shows no half of a secret where it was cut", async () => {
  using directory = temporaryDirectory();
  const file = join(directory.path, "long.txt");
  const half = MAX_OUTPUT_BYTES / 2;
  const text = `${"a".repeat(half - 8)}${SECRET}${"b".repeat(half)}${"c".repeat(half)}\nthe end`;
  writeFileSync(file, text);
  const parts = deps(directory.path);
  const { whole_output: kept } = await keepOutput(parts, file);
  expect(kept?.total).toBe(text.length);
  const content = (await parts.store.toolOutputs.read("sesn_one", kept?.hash ?? ""))?.toString() ?? "";
  expect(content.length).toBe(kept?.bytes);
  expect(content).toMatch(/bytes omitted: the limit is 4,194,304\]/);
  expect(content).not.toContain(SECRET.slice(0, 6));
  expect(content.endsWith("the end")).toBe(true);
});

test("a pipe in the place of an output is not waited for", async () => {
  using directory = temporaryDirectory();
  const file = join(directory.path, "pipe.txt");
  execFileSync("mkfifo", [file]);
  expect(await keepOutput(deps(directory.path), file)).toEqual({
    detail: expect.stringContaining("is not a regular file") as string,
  });
});

test("a session that has used up its room keeps no more, and the event says so", async () => {
  using directory = temporaryDirectory();
  const file = join(directory.path, "o.txt");
  writeFileSync(file, "some text\n");
  const facts = await keepOutput(deps(directory.path, MAX_SESSION_OUTPUT_BYTES), file);
  expect(facts).toEqual({
    whole_output: { bytes: 0, total: 10 },
    detail: expect.stringContaining("268,435,456") as string,
  });
  expect(await keepOutput(deps(directory.path), join(directory.path, "gone"))).toEqual({
    detail: expect.stringContaining("could not be saved") as string,
  });
});

test("only a plain file in the directory of the CLI's own results is read, whatever a tool writes", () => {
  using directory = temporaryDirectory();
  const results = join(directory.path, "projects");
  mkdirSync(join(results, "p"), { recursive: true });
  const secret = join(directory.path, "secret");
  const [good, linked] = [join(results, "p", "good.txt"), join(results, "p", "linked.txt")];
  writeFileSync(secret, "secret");
  writeFileSync(good, "good");
  symlinkSync(secret, linked);
  linkSync(good, join(results, "p", "second.txt"));
  const said = (path: string): string | undefined =>
    persistedOutput(
      [{ type: "text", text: `<persisted-output>\nOutput too large (1KB). Full output saved to: ${path}\n\nPreview` }],
      results,
    );
  expect(said(good)).toBe(good);
  for (const path of [
    secret,
    linked,
    join(results, "..", "secret"),
    results,
    "/etc/passwd",
    "good.txt",
    join(results, "none"),
  ])
    expect(said(path), path).toBeUndefined();
});
