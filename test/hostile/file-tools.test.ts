import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import type { Mode } from "../../src/core/agent/agent-definition.ts";
import type { LoggedEvent } from "../../src/core/events/events.ts";
import { isInside } from "../../src/core/paths/is-inside.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { obedient, order, type Step } from "../support/obedient-model.ts";
import { oddPaths, oddPatterns } from "../support/odd-paths.ts";

/**
 * Compares what rules see of a call with what the tool actually opened. Every file has a unique mark in its name and
 * content, so that a result shows what was listed or read, and the disk what was written.
 */

const SEED = 19;
/** Odd paths for each tool. */
const COUNT = 50;
const DENIED = ["secrets", "café"];
const FILES = [
  "top",
  "src/one",
  "src/deep/two",
  "secrets/three",
  "secrets/deep/four",
  "café/five",
  "secrets /six",
  "src /seven",
  "../out/eight",
  "../out/deep/nine",
  "../secrets/ten",
  "~root/eleven",
  "workspace/src/twelve",
];

interface World {
  readonly cwd: string;
  /** The mark of each file, and where it really is. */
  readonly marks: ReadonlyMap<string, string>;
  readonly isDenied: (path: string) => boolean;
}

function buildWorld(cwd: string): World {
  const marks = new Map<string, string>();
  for (const [index, file] of FILES.entries()) {
    const mark = `n${String(index).padStart(2, "0")}`;
    const path = join(cwd, dirname(file), `${mark}.txt`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `MARK=${mark}\nedit here\n`);
    marks.set(mark, realpathSync(path));
  }
  symlinkSync("../out", join(cwd, "link"));
  symlinkSync(".", join(cwd, "self"));
  symlinkSync("loop", join(cwd, "loop"));
  symlinkSync("secrets", join(cwd, "harmless"));
  const workspace = realpathSync(cwd);
  return { cwd, marks, isDenied: (path) => DENIED.some((name) => isInside(path, join(workspace, name))) };
}

const DIRECTORIES = ["src", "secrets", "café", "../out", "link", "harmless", "secrets/deep", ".", "..", "workspace"];

function steps({ cwd, marks }: World): Step[] {
  const targets = [...marks.values(), join(cwd, "link/n08.txt"), join(cwd, "harmless/n03.txt")].map((path) =>
    relative(realpathSync(cwd), path),
  );
  const paths = (seed: number): string[] => oddPaths(COUNT, SEED + seed, { cwd, targets });
  const directories = (seed: number): string[] => oddPaths(COUNT, SEED + seed, { cwd, targets: DIRECTORIES });
  const patterns = oddPatterns(COUNT, SEED, { cwd, targets: DIRECTORIES });
  const read = paths(1).map((path) => ["Read", { file_path: path }] as const);
  const grep = directories(2).map((path) => ["Grep", { pattern: "MARK=", path, output_mode: "content" }] as const);
  const filtered = patterns.map((glob, at) => {
    const field = at % 2 === 0 ? "glob" : "type";
    return ["Grep", { pattern: "MARK=", path: "src", output_mode: "content", [field]: glob }] as const;
  });
  const glob = directories(3).map((path) => ["Glob", { pattern: "**/*", path }] as const);
  const globbed = patterns.map((pattern) => ["Glob", { pattern }] as const);
  const edit = paths(4).map((path, at) => {
    const input = { file_path: path, old_string: "edit here", new_string: `WROTE=e${at}\nedit here` };
    return ["Edit", input] as const;
  });
  const write = directories(5).map((path, at) => {
    const input = { file_path: `${path}/new${at}.txt`, content: `WROTE=w${at}\n` };
    return ["Write", at % 2 === 0 ? input : { ...input, file_path: `${path.trimEnd()}/new${at} ` }] as const;
  });
  const notebook = paths(6).map((path, at) => {
    const input = { notebook_path: `${path}.ipynb`, new_source: `WROTE=b${at}`, edit_mode: "insert" };
    return ["NotebookEdit", input] as const;
  });
  const all = [...read, ...grep, ...filtered, ...glob, ...globbed, ...edit, ...write, ...notebook];
  return Array.from({ length: Math.ceil(all.length / 50) }, (_, at) => ({
    together: all.slice(at * 50, at * 50 + 50),
  }));
}

interface Done {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** What the log says it ran with. */
  readonly ran: Readonly<Record<string, unknown>>;
  /** What the decision saw; undefined when the call was not allowed. */
  readonly seen: readonly string[] | undefined;
  readonly result: string;
}

async function run(world: World, mode: Mode, host: Awaited<ReturnType<typeof testHost>>["host"]): Promise<Done[]> {
  const session = await host.startSession({
    agent: agent({
      tools: ["Read", "Grep", "Glob", "Edit", "Write", "NotebookEdit", "Bash"],
      permissions: { mode, deny: DENIED.map((name) => `Read(./${name}/**)`) },
    }),
    cwd: world.cwd,
    environment: { checkpoints: { mode: "off" } },
    askPermission: () => ({ behavior: "deny", by: "nobody" }),
  });
  const move: Step[] = [
    ["Bash", { command: "cd secrets" }],
    ["Bash", { command: "cat n03.txt" }],
    ["Grep", { pattern: "MARK=", path: ".", output_mode: "content" }],
    ["Read", { file_path: "n03.txt" }],
  ];
  expect((await session.send(order(...steps(world), ...move)).result()).text).toBe("done");
  return callsIn(await eventsOf(host, session.id));
}

function callsIn(events: readonly LoggedEvent[]): Done[] {
  const decisions = new Map(ofType(events, "capstan.permission_decided").map((event) => [event.tool_use_id, event]));
  const results = new Map(ofType(events, "agent.tool_result").map((event) => [event.tool_use_id, event]));
  return ofType(events, "agent.tool_use").map(({ id, name, input }) => {
    const decision = decisions.get(id);
    const result = results.get(id);
    const isRun = decision?.decision === "allow";
    return {
      tool: name,
      input,
      ran: decision?.input ?? input,
      seen: isRun ? decision.subject?.paths.map(({ real }) => real) : undefined,
      result: (result?.content ?? []).map((block) => (block.type === "text" ? block.text : "")).join("\n"),
    };
  });
}

/** Files whose content a result shows, or that a listing names. */
function openedFiles({ tool, result }: Done, { marks }: World): string[] {
  const found = tool === "Glob" ? result.matchAll(/^.*\/?(n\d\d)\.txt$/gm) : result.matchAll(/MARK=(n\d\d)/g);
  return [...new Set([...found].map(([, mark = ""]) => marks.get(mark) ?? `unknown ${mark}`))];
}

/** Where each mark of a write is now. */
function findWrites(base: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const entry of readdirSync(base, { withFileTypes: true })) {
    const path = join(base, entry.name);
    // Not recursive by itself: that follows links, and one of them leads to its own directory.
    if (entry.isDirectory()) for (const [mark, place] of findWrites(path)) found.set(mark, place);
    if (!entry.isFile() || !/\.(?:txt|ipynb)/.test(entry.name)) continue;
    for (const [, mark = ""] of readFileSync(path, "utf8").matchAll(/WROTE=(\w+)/g))
      found.set(mark, realpathSync(path));
  }
  return found;
}

test.each<[Mode]>([["yolo"], ["accept-edits"]])("tools open only what the decision checked: %s", async (mode) => {
  await using place = await testHost(obedient);
  const world = buildWorld(place.cwd);
  const calls = await run(world, mode, place.host);
  const workspace = realpathSync(place.cwd);
  expect(calls.length).toBeGreaterThan(COUNT * 8);
  const wrong: unknown[] = [];
  const effects = new Map<string, number>();
  const note = (call: Done, path: string): void => {
    const { tool, seen } = call;
    const isSearch = tool === "Glob" || tool === "Grep";
    const isSeen = seen?.some((known) => (isSearch ? isInside(path, known) : path === known)) === true;
    const isOut = mode === "accept-edits" && !isInside(path, workspace);
    if (!isSeen || isOut || world.isDenied(path)) wrong.push({ ...call, path });
    effects.set(tool, (effects.get(tool) ?? 0) + 1);
  };
  for (const call of calls) for (const path of openedFiles(call, world)) note(call, path);
  const marks = findWrites(dirname(workspace));
  for (const call of calls) {
    const { new_string: edit, content, new_source: source } = call.input;
    const [, mark = ""] = /WROTE=(\w+)/.exec(JSON.stringify([edit, content, source])) ?? [];
    const path = marks.get(mark);
    if (path !== undefined) note(call, path);
  }
  expect(wrong).toEqual([]);
  const searches = calls.filter(({ seen, input }) => seen !== undefined && typeof input["path"] === "string");
  for (const { ran } of searches) expect(ran["path"]).toMatch(/^\/(?:.*\S)?$/);
  // The test proves nothing unless files were opened.
  for (const tool of ["Read", "Grep", "Glob", "Edit", "Write"]) expect(effects.get(tool), tool).toBeGreaterThan(3);
});
