import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { type AgentInput, type Mode, MODES } from "../../src/core/agent/agent-definition.ts";
import type { LoggedEvent } from "../../src/core/events/events.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { office } from "../support/office.ts";
import { type ModelRequest, type Reply, say, type Script, toolUse } from "../support/scripted-model.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";

interface Surroundings {
  readonly cwd: string;
  readonly outside: string;
  readonly web: string;
}
type Attempt = (
  at: Surroundings & { readonly line: string },
) => readonly [tool: string, input: Record<string, unknown>];

/** What the agent tries, its subagent, and a subagent of its subagent; `line` is which of them. */
const NAMES = [
  "bash",
  "bash with an allow rule",
  "bash with an ask rule",
  "bash with a deny rule",
  "read inside",
  "read outside",
  "write inside",
  "write outside",
  "mcp",
  "fetch",
  "search",
] as const;
type Name = (typeof NAMES)[number];
/** What an engine does not have, nobody can try: such a tool is refused with the agent. */
const HAS_SEARCH = TEST_ENGINE === "claude";
const TRIED = NAMES.filter((name) => HAS_SEARCH || name !== "search");
const WEB_TOOLS = HAS_SEARCH ? ["WebFetch", "WebSearch"] : ["WebFetch"];
const ATTEMPTS: Readonly<Record<Name, Attempt>> = {
  bash: ({ line }) => ["Bash", { command: `echo ${line} >> effects.txt` }],
  "bash with an allow rule": ({ line }) => ["Bash", { command: `touch allowed-${line}` }],
  "bash with an ask rule": () => ["Bash", { command: "git push origin" }],
  "bash with a deny rule": () => ["Bash", { command: "true; rm note.txt" }],
  "read inside": ({ cwd }) => ["Read", { file_path: join(cwd, "note.txt") }],
  "read outside": ({ outside }) => ["Read", { file_path: join(outside, "secret.txt") }],
  "write inside": ({ cwd, line }) => ["Write", { file_path: join(cwd, `${line}.txt`), content: "in" }],
  "write outside": ({ outside, line }) => ["Write", { file_path: join(outside, `${line}.txt`), content: "out" }],
  // It says of itself that it only reads.
  mcp: ({ line }) => ["mcp__office__act", { what: line }],
  fetch: ({ web }) => ["WebFetch", { url: web, prompt: "What does it say?" }],
  search: () => ["WebSearch", { query: "capstan winches" }],
};

const ASK = "ask default:ask";
const BY_MODE = (mode: Mode): string => `deny mode:${mode}`;
/** In the order of docs/permissions.md: what each mode makes of each attempt. */
const EXPECTED: Readonly<Record<Name, Readonly<Record<Mode, string>>>> = {
  bash: row(ASK, ASK, "allow mode:yolo"),
  "bash with an allow rule": row(
    "allow rule:allow Bash(touch allowed-*)",
    "allow rule:allow Bash(touch allowed-*)",
    "allow rule:allow Bash(touch allowed-*)",
  ),
  "bash with an ask rule": row(
    "ask rule:ask Bash(git push *)",
    "ask rule:ask Bash(git push *)",
    "ask rule:ask Bash(git push *)",
  ),
  "bash with a deny rule": every("deny rule:deny Bash(rm *)"),
  "read inside": { ...every("allow tool:read-only"), yolo: "allow mode:yolo" },
  "read outside": { ...every(ASK), yolo: "allow mode:yolo" },
  "write inside": row(ASK, "allow mode:accept-edits", "allow mode:yolo"),
  "write outside": row(ASK, ASK, "allow mode:yolo"),
  mcp: row(ASK, ASK, "allow mode:yolo"),
  fetch: row(ASK, ASK, "allow mode:yolo"),
  search: row(ASK, ASK, "allow mode:yolo"),
};

/** Of what may change something: the modes that only read deny it, whatever the rules allow or ask. */
function row(normal: string, edits: string, yolo: string): Readonly<Record<Mode, string>> {
  return { normal, "accept-edits": edits, yolo, "read-only": BY_MODE("read-only"), plan: BY_MODE("plan") };
}

function every(decision: string): Readonly<Record<Mode, string>> {
  return Object.fromEntries(MODES.map((mode) => [mode, decision])) as Record<Mode, string>;
}

const LINES = ["main", "direct", "nested"] as const;
type Line = (typeof LINES)[number];
const idOf = (line: Line, name: string): string => `toolu_${line}_${name.replaceAll(" ", "_")}`;

const crew = (mode: Mode, servers: AgentInput["mcp_servers"]): AgentInput =>
  agent({
    tools: ["Bash", "Read", "Write", ...WEB_TOOLS],
    permissions: { mode, allow: ["Bash(touch allowed-*)"], ask: ["Bash(git push *)"], deny: ["Bash(rm *)"] },
    mcp_servers: servers,
    subagents: {
      worker: {
        description: "works",
        instructions: "You are WORKER.",
        tools: ["Bash", "Read", "Write", ...WEB_TOOLS, "mcp__office__act"],
      },
      boss: { description: "delegates", instructions: "You are BOSS." },
    },
  });

/** Every line makes its attempts one after another; the agent then starts the subagents. */
function script(at: Surroundings): Script {
  return (request): Reply => {
    // The web tools ask a model of their own to read what they found.
    const isOwn = request.body.tools?.some(({ name }) => name === "Bash") === true;
    if (!isOwn) return say("Nothing was found.");
    const line = lineOf(request);
    const steps = line === "boss" ? [delegate("worker", "nested")] : attempts(line, at);
    if (line === "main") steps.push(delegate("worker", "direct"), delegate("boss", "boss"));
    const step = steps[resultsIn(request)];
    return step === undefined ? say(`${line} is done.`) : { blocks: [step] };
  };
}

function attempts(line: Line, at: Surroundings): ReturnType<typeof toolUse>[] {
  return TRIED.map((name) => {
    const [tool, input] = ATTEMPTS[name]({ ...at, line });
    return toolUse(tool, input, idOf(line, name));
  });
}

function delegate(to: string, line: string): ReturnType<typeof toolUse> {
  return toolUse("Agent", { description: line, subagent_type: to, prompt: `LINE=${line}` }, `toolu_agent_${line}`);
}

function lineOf({ body, agent: id }: ModelRequest): Line | "boss" {
  if (id === "main") return "main";
  const task = JSON.stringify(body.messages[0]?.content);
  return task.includes("LINE=boss") ? "boss" : task.includes("LINE=nested") ? "nested" : "direct";
}

function resultsIn({ body }: ModelRequest): number {
  return body.messages
    .flatMap(({ content }) => (typeof content === "string" ? [] : content))
    .filter(({ type }) => type === "tool_result").length;
}

/** Call → what the log says became of it: `allow …`, `deny …`, or `ask …` when a person was asked, who denied. */
function decisionsIn(events: readonly LoggedEvent[]): Map<string, string> {
  const asked = new Map(ofType(events, "capstan.approval_requested").map((event) => [event.call_id, event.asked_by]));
  return new Map(
    ofType(events, "capstan.permission_decided").map(({ call_id: id, decision, decided_by: by }) => {
      const who = asked.get(id);
      if (who !== undefined) expect([decision, by]).toEqual(["deny", "person:tester"]);
      return [id, who === undefined ? `${decision} ${by}` : `ask ${who}`];
    }),
  );
}

describe("in a real session", () => {
  test.each(MODES)("the mode %s decides every call of every line, and only what it allows happens", async (mode) => {
    await using web = await listener();
    await using t = await testHost(() => say("not yet"));
    const at = { cwd: t.cwd, outside: join(dirname(t.home), "outside"), web: web.url };
    mkdirSync(at.outside);
    writeFileSync(join(at.outside, "secret.txt"), "a secret");
    writeFileSync(join(t.cwd, "note.txt"), "a note");
    t.model.script = script(at);
    const { servers, listDone } = office(t.home);
    const session = await t.host.startSession({
      agent: crew(mode, servers),
      cwd: t.cwd,
      askPermission: () => ({ behavior: "deny", by: "tester" }),
    });
    expect((await session.send("Try it all.").result()).text).toBe("main is done.");

    const events = await eventsOf(t.host, session.id);
    const decisions = decisionsIn(events);
    const wanted = LINES.flatMap((line) => TRIED.map((name) => [idOf(line, name), EXPECTED[name][mode]]));
    const agents = ["direct", "boss", "nested"].map((line) => [`toolu_agent_${line}`, "allow tool:safe-internal"]);
    expect(Object.fromEntries(decisions)).toEqual(Object.fromEntries([...wanted, ...agents]));
    checkReasons(events, mode);

    const happened = (name: Name): readonly string[] => (EXPECTED[name][mode].startsWith("allow") ? LINES : []);
    expect(linesOf(join(t.cwd, "effects.txt"))).toEqual(happened("bash"));
    expect(LINES.filter((line) => existsSync(join(t.cwd, `allowed-${line}`)))).toEqual(
      happened("bash with an allow rule"),
    );
    expect(LINES.filter((line) => existsSync(join(t.cwd, `${line}.txt`)))).toEqual(happened("write inside"));
    expect(LINES.filter((line) => existsSync(join(at.outside, `${line}.txt`)))).toEqual(happened("write outside"));
    expect(existsSync(join(t.cwd, "note.txt"))).toBe(true);
    expect(listDone()).toEqual(happened("mcp"));
    // An engine's own tool may refuse this machine's addresses, once it is allowed to run.
    const isRefused = t.model.requests.some(({ transcript }) => transcript.includes("WebFetch cannot reach 127.0.0.1"));
    expect(web.connections() > 0 || isRefused).toBe(happened("fetch").length > 0);
    const seen = t.model.requests.filter(({ transcript }) => transcript.includes("a secret"));
    expect(seen.length > 0).toBe(happened("read outside").length > 0);
    const searches = t.model.requests.filter(({ body }) => body.tools?.some(({ name }) => name === "web_search"));
    expect(searches).toHaveLength(HAS_SEARCH ? happened("search").length : 0);
  });
});

/** Each decision says why, in which mode, and for which line; a denied call tells the model so. */
function checkReasons(events: readonly LoggedEvent[], mode: Mode): void {
  const threads = new Map(
    ofType(events, "session.thread_created").map((event) => [event.call_id, event.session_thread_id]),
  );
  const decided = ofType(events, "capstan.permission_decided");
  for (const decision of decided) {
    expect(decision).toMatchObject({ mode, reason: expect.stringMatching(/\w/), subject: { tool: decision.tool } });
    const [, line = ""] = /^toolu_(direct|nested)_/.exec(decision.call_id) ?? [];
    if (line !== "") expect(decision.session_thread_id).toBe(threads.get(`toolu_agent_${line}`));
  }
  const results = [...ofType(events, "agent.tool_result"), ...ofType(events, "agent.mcp_tool_result")];
  for (const { call_id: id, decision, reason } of decided) {
    const result = results.find((event) => event.call_id === id);
    if (decision === "deny") expect(result).toMatchObject({ outcome: "denied", is_error: true });
    if (decision === "deny") expect(JSON.stringify(result?.content)).toContain(JSON.stringify(reason).slice(1, -1));
    else expect(["completed", "failed"]).toContain(result?.outcome);
  }
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

/** An address that counts who comes, and says nothing. */
async function listener(): Promise<AsyncDisposable & { readonly url: string; connections(): number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.end("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello");
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/page`,
    connections: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}
