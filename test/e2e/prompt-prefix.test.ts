import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agent, testHost } from "../support/host.ts";
import { call, type ModelMessage, type ModelRequest, say } from "../support/scripted-model.ts";

/**
 * What the model API caches a prompt by is its beginning: tools, then system, then messages, byte by byte. Compared is
 * the JSON of each, without the marks that say where the cache ends (`cache_control`), which move, and with a content
 * that is a text written as the one block of text that it stands for.
 */
const plain = (value: unknown): string =>
  JSON.stringify(value, (key, inner: unknown) => (key === "cache_control" ? undefined : inner));
const messageOf = ({ role, content }: ModelMessage): string =>
  plain({ role, content: typeof content === "string" ? [{ type: "text", text: content }] : content });
/** As far as sessions share the cache: up to the last mark before the messages. */
function sharedHeadOf({ body }: ModelRequest): string {
  const system = body.system as readonly Record<string, unknown>[];
  return plain([body.tools, system.slice(0, system.findLastIndex((block) => "cache_control" in block) + 1)]);
}
const headOf = ({ body }: ModelRequest): string => plain([body.tools, body.system]);

function expectPrefix(earlier: ModelRequest, later: ModelRequest): void {
  expect(headOf(later)).toBe(headOf(earlier));
  const [before, after] = [earlier, later].map(({ body }) => body.messages.map(messageOf));
  expect(after?.slice(0, before?.length)).toEqual(before);
  expect(after?.length).toBeGreaterThan(before?.length ?? 0);
}

const order = `export const order = { description: "Looks up.", input: { type: "object" }, handler: () => "found" };`;
const skill = { content: "---\nname: greet\ndescription: How to greet.\n---\nSay AHOY.", encoding: "utf8" as const };

test.each(["replace", "append"] as const)(
  "each request begins with all of the one before it, over turns, hibernation and sessions: %s",
  async (mode) => {
    await using t = await testHost(({ last, toolResults }) =>
      last.includes("CALL") && toolResults.length === 0 ? call("Skill", { skill: "agent:greet" }) : say("Done."),
    );
    writeFileSync(join(t.cwd, "orders.mjs"), order);
    writeFileSync(join(t.cwd, "CLAUDE.md"), "Use tabs.");
    const git = (...args: string[]): unknown =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], { cwd: t.cwd });
    git("init", "-q");
    git("add", ".");
    git("commit", "-q", "-m", "first");
    const given = agent({
      instructions_mode: mode,
      tools: ["Write", "Read", "Bash"],
      functions: [{ module: join(t.cwd, "orders.mjs") }],
      skills: { greet: { files: { "SKILL.md": skill } } },
      subagents: { helper: { description: "Helps.", instructions: "Help." } },
      setting_sources: ["project"],
    });
    const environment = { workspace: { kind: "worktree" as const } };
    const session = await t.host.startSession({ agent: given, environment, cwd: t.cwd });
    await session.send("CALL it").result();
    await session.send("again").result();
    await session.hibernate();
    await session.send("CALL it once more").result();
    const requests = [...t.model.requests];
    expect(requests).toHaveLength(5);
    for (const [index, request] of requests.entries()) if (index > 0) expectPrefix(requests[index - 1]!, request);

    mkdirSync(join(t.cwd, "later"));
    const other = await t.host.startSession({ agent: given, environment, cwd: t.cwd });
    await other.send("hello").result();
    const head = sharedHeadOf(requests[0]!);
    expect(sharedHeadOf(t.model.requests.at(-1)!)).toBe(head);
    expect(head).toContain("You are a test agent.");
    // Nothing of it is of one session, one day or one machine.
    for (const volatile of [
      t.cwd,
      t.home,
      session.id,
      other.id,
      "billing-header",
      new Date().toISOString().slice(0, 10),
    ])
      expect(head).not.toContain(volatile);
  },
);
