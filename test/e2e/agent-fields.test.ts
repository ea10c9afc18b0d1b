import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AgentInput } from "../../src/core/agent/agent-definition.ts";
import { claudeCodePromptChars } from "../../src/engines/model-traits.ts";
import { agent, eventsOf, ofType, testHost, type TestHost } from "../support/host.ts";
import { apiError, call, type ModelRequest, say } from "../support/scripted-model.ts";

const INPUTS = { language: { type: "string", description: "what it writes in" } } as const;

function file(t: TestHost, path: string, text: string): string {
  const full = join(t.cwd, path);
  mkdirSync(join(full, ".."), { recursive: true });
  writeFileSync(full, text);
  return full;
}

const systemOf = ({ body }: ModelRequest): string =>
  (body.system as { text: string }[]).map(({ text }) => text).join("\n");

const greeting = {
  files: {
    "SKILL.md": {
      content: "---\nname: greeting\ndescription: How to greet.\n---\nSay AHOY. Names are in names.md.",
      encoding: "utf8" as const,
    },
    "names.md": { content: "ADA LOVELACE", encoding: "utf8" as const },
  },
};

/** Says what it is told by a message: `Skill greeting` calls that tool. */
const obedient = ({ last, toolResults }: ModelRequest) => {
  const [, tool = "", word = ""] = /CALL (\w+) (\S+)/.exec(last) ?? [];
  if (tool === "" || toolResults.length > 0) return say("Done.");
  const input = { Skill: { skill: `agent:${word}` }, Read: { file_path: word }, mcp__capstan__order: { id: word } }[
    tool
  ];
  return call(tool, input ?? {});
};

describe("a session of an agent with everything", () => {
  test("has its inputs, functions, skills and commands, after hibernation and in another host as well", async () => {
    await using t = await testHost(obedient);
    const module = file(
      t,
      "tools/orders.ts",
      `const FOUND: string = "order ";
       export const order = { description: "Looks up.", input: { type: "object" }, handler: ({ id }: { id: string }) => FOUND + id };`,
    );
    const everything: Partial<AgentInput> = {
      instructions: "You write {{language}}. {{other}} is not ours.",
      inputs: INPUTS,
      functions: [{ module }],
      skills: { greeting },
      commands: { look: { prompt: "CALL mcp__capstan__order {{args}}" } },
      permissions: { allow: ["order"] },
      tools: ["Read"],
    };
    await expect(t.host.startSession({ agent: agent(everything), cwd: t.cwd })).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("language is missing: what it writes in") as string,
    });
    const broken = agent({ ...everything, functions: [{ module, exports: ["orders"] }] });
    const given = { cwd: t.cwd, inputs: { language: "French" } };
    await expect(t.host.startSession({ agent: broken, ...given })).rejects.toMatchObject({ code: "invalid_agent" });
    expect(await t.host.sessions()).toEqual([]);

    const session = await t.host.startSession({ agent: agent(everything), ...given });
    await session.send("/look 42").result();
    await session.send("CALL Skill greeting").result();
    const names = join(t.home, "sessions", session.id, "plugin", "skills", "greeting", "names.md");
    await session.send(`CALL Read ${names}`).result();
    const events = await eventsOf(t.host, session.id);
    expect(ofType(events, "capstan.inputs_given")).toMatchObject([{ values: { language: "French" } }]);
    expect(ofType(events, "user.message")[0]).toMatchObject({
      content: [{ text: "CALL mcp__capstan__order 42" }],
      command: "/look 42",
    });
    expect(ofType(events, "agent.tool_result").map(({ content }) => content?.[0])).toMatchObject([
      { text: "order 42" },
      { text: expect.stringContaining("greeting") as string },
      { text: expect.stringContaining("ADA LOVELACE") as string },
    ]);
    expect(ofType(events, "capstan.permission_decided").map(({ decided_by: by }) => by)).toEqual([
      "rule:allow order",
      "tool:safe-internal",
      "tool:read-only",
    ]);
    expect(systemOf(t.model.requests[0]!)).toContain("You write French. {{other}} is not ours.");
    // In a message or in the system prompt, as the engine does it.
    expect(JSON.stringify(t.model.requests[0]?.body)).toContain("greeting: How to greet.");

    await session.close();
    rmSync(join(t.home, "sessions", session.id, "plugin"), { recursive: true });
    await using other = await t.another();
    const again = await other.resumeSession(session.id);
    await again.send("CALL Skill greeting").result();
    expect(t.model.requests.at(-1)?.transcript.match(/Say AHOY/g)).toHaveLength(2);
    await again.send("/look 43").result();
    expect(t.model.requests.at(-1)?.last).toContain("order 43");
    const started = ofType(await eventsOf(other, session.id), "capstan.process_started");
    expect(started.map(({ history }) => history)).toEqual(["new", "resumed"]);
    const fork = await other.forkSession(session.id);
    expect(fork.record.agent.instructions).toBe(again.record.agent.instructions);
  });
});

describe("a CLAUDE.md", () => {
  test("is told to the agent that wants it, and no command of the workspace or of a skill runs", async () => {
    await using t = await testHost(obedient);
    file(t, "CLAUDE.md", "Indent with TABS-AND-NOTHING-ELSE.");
    const mark = join(t.home, "mark");
    const hook = [{ hooks: [{ type: "command", command: `touch ${mark}` }] }];
    file(
      t,
      ".claude/settings.json",
      JSON.stringify({
        hooks: { UserPromptSubmit: hook, SessionStart: hook, Stop: hook },
        apiKeyHelper: `touch ${mark}; echo key`,
        env: { ANTHROPIC_BASE_URL: "http://127.0.0.1:9" },
      }),
    );
    file(t, ".claude/skills/theirs/SKILL.md", "---\nname: theirs\ndescription: SKILL-OF-OTHERS\n---\nx");
    // The head is not read as YAML before it reaches the CLI: whatever slips through must not run either.
    const hooked = `---\nname: greeting\ndescription: d\n!!str hooks: ${JSON.stringify({ PreToolUse: hook, Stop: hook })}\n---\n`;
    const content = `${hooked}Say AHOY. !\`touch ${mark}\``;
    const skills = { greeting: { files: { "SKILL.md": { content, encoding: "utf8" as const } } } };
    const said: string[] = [];
    for (const setting_sources of [undefined, ["project" as const]]) {
      const session = await t.host.startSession({
        agent: agent({ skills, tools: ["Read"], ...(setting_sources && { setting_sources }) }),
        cwd: t.cwd,
      });
      await session.send("CALL Skill greeting").result();
      await session.send("CALL Read .claude/settings.json").result();
      const [found] = ofType(await eventsOf(t.host, session.id), "capstan.project_file_found");
      expect(found).toMatchObject({ path: "CLAUDE.md", used: setting_sources !== undefined });
      said.push(JSON.stringify(t.model.requests.at(-1)?.body));
    }
    expect(said.map((body) => body.includes("TABS-AND-NOTHING-ELSE"))).toEqual([false, true]);
    expect(said.some((body) => body.includes("SKILL-OF-OTHERS"))).toBe(false);
    expect(said.every((body) => body.includes("Say AHOY"))).toBe(true);
    expect(existsSync(mark)).toBe(false);
  });
});

describe("the model of an agent", () => {
  test("is told how to think, and another answers when it is overloaded", async () => {
    await using t = await testHost(({ body }) =>
      body.model === "claude-opus-4-8" ? apiError(529, "overloaded_error", "Overloaded") : say("Done."),
    );
    const given = { effort: "low", thinking: "disabled", fallback_model: "claude-haiku-5-5" } as const;
    const session = await t.host.startSession({ agent: agent(given), cwd: t.cwd });
    expect(await session.send("hello").result()).toMatchObject({ text: "Done." });
    expect(t.model.requests.map(({ body }) => body.model)).toEqual([
      ...Array<string>(3).fill("claude-opus-4-8"),
      "claude-haiku-5-5",
    ]);
    expect(t.model.requests[0]?.body).toMatchObject({
      output_config: { effort: "low" },
      thinking: { type: "disabled" },
    });
  });

  test("gets the prompt of Claude Code before the instructions, and it is as long as we say", async () => {
    await using t = await testHost(() => say("Done."));
    for (const model of ["claude-opus-5-5", "claude-opus-4-8", "claude-sonnet-4-6"]) {
      const appended = agent({ model, instructions: "APPENDED", instructions_mode: "append", engine: "claude" });
      await using session = await t.host.startSession({ agent: appended, cwd: t.cwd });
      await session.send("hello").result();
      const { system } = t.model.requests.at(-1)!.body;
      const text = (system as { text: string }[]).map((block) => block.text).join("");
      expect(text.endsWith("APPENDED")).toBe(true);
      expect(text).not.toContain(t.cwd);
      expect(text.length - "APPENDED".length).toBe(claudeCodePromptChars(model));
      const [rendered] = ofType(await eventsOf(t.host, session.id), "capstan.prompt_rendered");
      expect(rendered).toMatchObject({ instructions_chars: 8, engine_prompt_chars: claudeCodePromptChars(model) });
    }
  });
});
