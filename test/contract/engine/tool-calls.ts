import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ofType } from "../../support/host.ts";
import { say, text, toolUse } from "../../support/scripted-model.ts";
import type { Desks } from "./desks.ts";
import { nameIn, type Stage, steps } from "./stage.ts";

const planIn = (cwd: string): string => join(cwd, "notes/plan.md");
const bash = (command: string, id?: string) => toolUse("Bash", { command }, id);

export function toolCalls(_stage: Stage, { worker: shared }: Desks): void {
  describe("a tool call", () => {
    test("is announced, decided and run, in this order, and its result is in the next request", async () => {
      const { session, events, requests } = await shared(
        steps({ blocks: [text("Looking."), bash("echo out", "toolu_one")] }),
      );
      await session.send("Look.").result();
      const all = await events();
      const [use] = ofType(all, "agent.tool_use");
      expect(use).toMatchObject({ name: "Bash", call_id: "toolu_one", input: { command: "echo out" } });
      expect(ofType(all, "capstan.permission_decided")).toMatchObject([
        { call_id: "toolu_one", tool_use_id: use?.id, decision: "allow", decided_by: "rule:allow Bash" },
      ]);
      const [result] = ofType(all, "agent.tool_result");
      expect(result).toMatchObject({ tool_use_id: use?.id, call_id: "toolu_one", outcome: "completed" });
      const types = all.map(({ type }) => type);
      const order = ["agent.tool_use", "capstan.permission_decided", "agent.tool_result"] as const;
      expect(order.map((type) => types.indexOf(type))).toEqual(
        order.map((type) => types.indexOf(type)).toSorted((a, b) => a - b),
      );
      expect(requests()[1]?.toolResults).toEqual([
        { id: "toolu_one", text: expect.stringContaining("out") as string, isError: false },
      ]);
    });

    test("that fails tells the model how", async () => {
      const { session, events, requests } = await shared(steps({ blocks: [bash("echo bad; exit 3")] }));
      await session.send("Fail.").result();
      expect(ofType(await events(), "agent.tool_result")).toMatchObject([{ outcome: "failed", is_error: true }]);
      const [told] = requests()[1]?.toolResults ?? [];
      expect(told?.isError).toBe(true);
      expect(told?.text).toMatch(/3[^]*bad|bad[^]*3/);
    });

    test("beside others has an outcome of its own, and all results are in one request", async () => {
      const { t, session, events, requests } = await shared(
        steps({
          blocks: [bash("echo a >> abc.txt", "toolu_a"), bash("rm abc.txt", "toolu_b"), bash("exit 1", "toolu_c")],
        }),
      );
      await session.send("Do three things.").result();
      const outcomes = ofType(await events(), "agent.tool_result").map(({ call_id: id, outcome }) => [id, outcome]);
      expect(Object.fromEntries(outcomes)).toEqual({ toolu_a: "completed", toolu_b: "denied", toolu_c: "failed" });
      expect(requests()).toHaveLength(2);
      expect(
        requests()[1]
          ?.toolResults.map(({ id }) => id)
          .toSorted(),
      ).toEqual(["toolu_a", "toolu_b", "toolu_c"]);
      expect(readFileSync(join(t.cwd, "abc.txt"), "utf8")).toBe("a\n");
    });

    test("that only reads runs at the same time as another", async () => {
      const { session, events, requests } = await shared(
        steps((request) => ({
          blocks: ["one", "two"].map((who) => toolUse(nameIn(request, "meet"), { who })),
        })),
      );
      await session.send("Meet.").result();
      expect(
        requests()[1]
          ?.toolResults.map(({ text: told }) => told)
          .toSorted(),
      ).toEqual(["one met", "two met"]);
      const results = ofType(await events(), "agent.tool_result");
      expect(results.map(({ outcome }) => outcome)).toEqual(["completed", "completed"]);
    });

    test("that a rule denies does not run, and the model is told by what", async () => {
      const { t, session, events, requests } = await shared(steps({ blocks: [bash("rm keep.txt")] }));
      writeFileSync(join(t.cwd, "keep.txt"), "kept");
      await session.send("Remove it.").result();
      expect(existsSync(join(t.cwd, "keep.txt"))).toBe(true);
      const [decided] = ofType(await events(), "capstan.permission_decided");
      expect(decided).toMatchObject({ decision: "deny", decided_by: "rule:deny Bash(rm *)" });
      expect(ofType(await events(), "agent.tool_result")).toMatchObject([{ outcome: "denied", is_error: true }]);
      expect(requests()[1]?.toolResults).toMatchObject([
        { isError: true, text: expect.stringContaining(decided?.reason ?? "?") },
      ]);
    });

    test("of a tool that does not exist is told to the model, and the turn continues", async () => {
      const { session, events, requests } = await shared(
        steps({ blocks: [toolUse("Telepathy", { to: "all" })] }, say("I see.")),
      );
      expect((await session.send("Use it.").result()).text).toBe("I see.");
      expect(requests()[1]?.toolResults).toMatchObject([{ isError: true, text: expect.stringContaining("Telepathy") }]);
      const [use] = ofType(await events(), "agent.tool_use");
      const [result, ...others] = ofType(await events(), "agent.tool_result");
      expect(others).toEqual([]);
      expect(result).toMatchObject({ tool_use_id: use?.id, is_error: true });
    });

    test.each([
      ["that misses a field", toolUse("Bash", { comand: "touch ran" })],
      ["of the wrong type", toolUse("Bash", { command: { touch: "ran" } })],
      ["that is no JSON", { ...bash("touch ran"), json: '{"command": "touch ran", "oops' }],
    ])("with an input %s does not run, and the model may mend it", async (_what, block) => {
      const { t, session, events, requests } = await shared(
        steps({ blocks: [block] }, { blocks: [bash("echo mended")] }, say("Mended.")),
      );
      expect((await session.send("Run it.").result()).text).toBe("Mended.");
      expect(existsSync(join(t.cwd, "ran"))).toBe(false);
      expect(requests()[1]?.toolResults).toMatchObject([{ isError: true, text: expect.stringMatching(/\w/) }]);
      const outcomes = ofType(await events(), "agent.tool_result").map(({ is_error: isError }) => isError);
      expect(outcomes).toEqual([true, false]);
    });

    test("with a result that is too long gives the model a part, and keeps the whole beside the log", async () => {
      const { session, events, requests } = await shared(steps({ blocks: [bash("seq 1 30000; echo the end")] }));
      await session.send("Count.").result();
      const whole = Array.from({ length: 30_000 }, (_, index) => `${index + 1}\n`).join("").length + "the end\n".length;
      const told = requests()[1]?.toolResults[0]?.text ?? "";
      expect(told).toContain("\n3\n");
      expect(told.length).toBeLessThan(whole / 3);
      const [result] = ofType(await events(), "agent.tool_result");
      expect(result?.whole_output?.hash).toMatch(/^[\da-f]{64}$/);
      expect(Math.abs((result?.whole_output?.total ?? 0) - whole)).toBeLessThanOrEqual(1);
      expect(JSON.stringify(result).length).toBeLessThan(whole / 3);
    });
  });

  describe("the built-in tools", () => {
    test("write, read, edit and search the files of the workspace", async () => {
      const { t, session, events, requests } = await shared(
        steps(
          () => ({ blocks: [toolUse("Write", { file_path: planIn(t.cwd), content: "alpha\nbeta\n" })] }),
          () => ({ blocks: [toolUse("Read", { file_path: planIn(t.cwd) })] }),
          () => ({ blocks: [toolUse("Edit", { file_path: planIn(t.cwd), old_string: "beta", new_string: "gamma" })] }),
          () => ({ blocks: [toolUse("Glob", { pattern: "notes/*.md" }), toolUse("Grep", { pattern: "gam+a" })] }),
        ),
      );
      await session.send("Work with files.").result();
      expect(readFileSync(planIn(t.cwd), "utf8")).toBe("alpha\ngamma\n");
      const results = ofType(await events(), "agent.tool_result");
      expect(results.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 5 }, () => "completed"));
      expect(requests()[2]?.toolResults[0]?.text).toMatch(/alpha[^]*beta/);
      for (const { text: told } of requests()[4]?.toolResults ?? []) expect(told).toContain("plan.md");
    });

    test("run commands with the session's variables and none of the host's", async () => {
      const { t, session, requests } = await shared(
        steps({ blocks: [bash("env; pwd; cat /proc/self/environ | tr '\\\\0' '\\\\n'")] }),
      );
      await session.send("Look around.").result();
      const seen = requests()[1]?.toolResults[0]?.text ?? "";
      expect(seen).toContain("PROJECT=named");
      expect(seen).toContain(t.cwd);
      expect(seen).toContain(`CAPSTAN_SESSION=${session.id}`);
      expect(seen).not.toContain(t.environment["ANTHROPIC_API_KEY"]);
      expect(seen).not.toMatch(/VITEST|NO_COLOR/);
      expect(seen).not.toMatch(new RegExp(`^HOME=${process.env["HOME"] ?? "/root"}$`, "m"));
    });
  });

  describe("a tool of the host", () => {
    test("is called with its checked input, under its own name in the log", async () => {
      const { session, events, requests } = await shared(
        steps((request) => ({
          blocks: ["blue", "missing", 7].map((key) => toolUse(nameIn(request, "find"), { key }, `toolu_${key}`)),
        })),
      );
      await session.send("Find.").result();
      const results = requests()[1]?.toolResults ?? [];
      const told = (key: string) => results.find(({ id }) => id === `toolu_${key}`);
      expect(told("blue")).toMatchObject({ isError: false, text: "value of blue" });
      expect(told("missing")).toMatchObject({ isError: true, text: expect.stringContaining("no such key") });
      expect(told("missing")?.text).not.toContain(" at ");
      expect(told("7")).toMatchObject({ isError: true });
      expect(ofType(await events(), "agent.tool_use").map(({ name }) => name)).toEqual(["find", "find", "find"]);
      const failed = ofType(await events(), "agent.tool_result").filter(({ detail }) => detail !== undefined);
      expect(failed.map(({ detail }) => detail).join("\n")).toContain("desks.ts");
    });
  });
}
