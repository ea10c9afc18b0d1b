import { describe, expect, test } from "vitest";
import type { RehearsalBlock, Message, MessagesRequest } from "../../src/gateway/rehearsal/rehearsal-conversation.ts";
import { type RehearsalReply, rehearse, type ToolCall } from "../../src/gateway/rehearsal/rehearsal-script.ts";

const TOOLS = ["Agent", "AskUserQuestion", "Bash", "Edit", "Glob", "Read", "Write"];
const tools = (names: readonly string[] = TOOLS) => names.map((name) => ({ name, input_schema: {} }));
const user = (...texts: string[]): Message => ({
  role: "user",
  content: texts.map((text) => ({ type: "text", text })),
});
const request = (text: string, rest: Partial<MessagesRequest> = {}): MessagesRequest => ({
  messages: [user(text)],
  tools: tools(),
  ...rest,
});
const callsIn = (reply: RehearsalReply): readonly ToolCall[] => ("calls" in reply ? reply.calls : []);
const textIn = (reply: RehearsalReply): string => ("text" in reply ? reply.text : "");

/** Plays a request to its end: each call gets the result that `answer` gives it. */
function play(text: string, answer: (call: ToolCall) => string | { error: string } = () => "ok") {
  const messages: Message[] = [user(text)];
  const turns: (readonly ToolCall[])[] = [];
  for (;;) {
    const reply = rehearse({ messages, tools: tools() });
    const calls = callsIn(reply);
    if (calls.length === 0) return { turns, reply, text: textIn(reply) };
    turns.push(calls);
    const ids = calls.map((_, index) => `${turns.length}.${index}`);
    messages.push({
      role: "assistant",
      content: calls.map(({ name }, i) => ({ type: "tool_use", id: ids[i] ?? "", name })),
    });
    messages.push({
      role: "user",
      content: calls.map((call, i): RehearsalBlock => {
        const result = answer(call);
        return typeof result === "string"
          ? { type: "tool_result", tool_use_id: ids[i] ?? "", content: result }
          : {
              type: "tool_result",
              tool_use_id: ids[i] ?? "",
              content: [{ type: "text", text: result.error }],
              is_error: true,
            };
      }),
    });
  }
}

describe("a request becomes a tool call", () => {
  test.each<[string, string, Record<string, unknown>]>([
    ["list files", "Glob", { pattern: "**/*" }],
    ["Please list all the files in this directory.", "Glob", { pattern: "**/*" }],
    ["list the files in src", "Glob", { pattern: "**/*", path: "src" }],
    ["ls", "Glob", { pattern: "**/*" }],
    ["read README.md", "Read", { file_path: "README.md" }],
    ["Can you show me the file `my notes.txt`?", "Read", { file_path: "my notes.txt" }],
    ["Read package.json.", "Read", { file_path: "package.json" }],
    ["ls .", "Glob", { pattern: "**/*", path: "." }],
    ["write hello.txt with hi", "Write", { file_path: "hello.txt", content: "hi" }],
    [
      "Create a new file called a/b.md containing the text: # Title\n\nBody",
      "Write",
      { file_path: "a/b.md", content: "# Title\n\nBody" },
    ],
    ['write "now and then" to poem.txt', "Write", { file_path: "poem.txt", content: "now and then" }],
    ["write it's fine to x.txt", "Write", { file_path: "x.txt", content: "it's fine" }],
    ["edit a.txt", "Read", { file_path: "a.txt" }],
    ["replace cat with dog in a.txt", "Read", { file_path: "a.txt" }],
    ["run npm test", "Bash", { command: "npm test" }],
    ["run ls .", "Bash", { command: "ls ." }],
    ["please run the command `if true; then echo hi; fi`", "Bash", { command: "if true; then echo hi; fi" }],
    ["execute: rm -rf build", "Bash", { command: "rm -rf build" }],
    ['use Read with {"file_path":"now and then.txt"}', "Read", { file_path: "now and then.txt" }],
  ])("%j", (text, name, input) => {
    expect(callsIn(rehearse(request(text)))).toMatchObject([{ name, input }]);
  });

  test.each([
    ["ask me: tea or coffee?", "Tea or coffee?", ["tea", "coffee"]],
    ["ask the user which of red, green or blue", "Which of red, green or blue?", ["red", "green", "blue"]],
    ["ask me whether to go on", "Whether to go on?", ["Yes", "No"]],
    ["ask a question", "How shall I go on?", ["Carefully", "Quickly"]],
  ])("%j, with choices", (text, question, labels) => {
    const [call] = callsIn(rehearse(request(text)));
    expect(call).toMatchObject({
      name: "AskUserQuestion",
      input: { questions: [{ question, multiSelect: false, options: labels.map((label) => ({ label })) }] },
    });
  });

  test("files are listed with Bash where there is no Glob", () => {
    const reply = rehearse(request("list files in it's", { tools: tools(["Bash"]) }));
    expect(callsIn(reply)).toMatchObject([{ name: "Bash", input: { command: String.raw`ls -- 'it'\''s'` } }]);
  });

  test("a review is two subagents in one turn, whose prompts the model understands itself", () => {
    const calls = callsIn(rehearse(request("review src/a.ts with two subagents")));
    expect(calls).toHaveLength(2);
    for (const { name, input } of calls) {
      expect(name).toBe("Agent");
      expect(input).not.toHaveProperty("run_in_background");
      const { turns, text } = play(String(input["prompt"]), () => "1\tconst a = 1;");
      expect(turns).toMatchObject([[{ name: "Read", input: { file_path: "src/a.ts" } }]]);
      expect(text).toContain("Report on");
    }
  });

  test("subagents stay in the foreground where the tool lets them choose", () => {
    const agent = { name: "Agent", input_schema: { properties: { run_in_background: { type: "boolean" } } } };
    for (const { input } of callsIn(rehearse(request("review", { tools: [agent] }))))
      expect(input).toMatchObject({ run_in_background: false });
  });
});

const listed = (...lines: string[]): MessagesRequest => ({
  messages: [
    user("review a.ts"),
    {
      role: "system",
      content: `# Environment\n\nAvailable agent types for the Agent tool:\n${lines.join("\n")}\n\nMore.`,
    },
  ],
  tools: tools(),
});
const kinds = (asked: MessagesRequest): unknown[] =>
  callsIn(rehearse(asked)).map(({ input }) => [input["subagent_type"], input["description"]]);

describe("a review by the agent's own subagents", () => {
  const builtIn = ["- claude: For any task (Tools: *)", "- Plan: Plans reviews (Tools: All)"];

  test("asks each of its reviewers", () => {
    const own = ["- security-reviewer: Looks for holes", "- style: Reviews: how it reads", "- cook: Cooks"];
    expect(kinds(listed(...builtIn, ...own))).toEqual([
      ["security-reviewer", "Review for security"],
      ["style", "Review for style"],
    ]);
  });

  test("reads them from the tool of the direct engine", () => {
    const description = "Give a task to a subagent. The subagents are:\n- general-purpose: for any task\n- cook: Cooks";
    expect(kinds(request("review a.ts", { tools: [{ name: "Agent", description }] }))).toEqual([
      ["cook", "Review for correctness"],
      ["cook", "Review for clarity"],
    ]);
  });

  test("asks its only one twice, and whoever there is when none is a reviewer", () => {
    expect(kinds(listed(...builtIn, "- cook: Cooks"))).toEqual([
      ["cook", "Review for correctness"],
      ["cook", "Review for clarity"],
    ]);
    expect(kinds(listed("- cook: Cooks", "- baker: Bakes")).length).toBe(2);
    expect(kinds(listed(...builtIn))).toEqual([
      [undefined, "Review for correctness"],
      [undefined, "Review for clarity"],
    ]);
  });
});

test("what is told to the model after a rewind is not taken for the request", () => {
  const note =
    "[The files in the working directory were brought back to an earlier state. Read them again before relying on them.]";
  for (const message of [user("read a.txt", note), user(`read a.txt\n${note}`)])
    expect(callsIn(rehearse({ messages: [message], tools: tools() }))).toMatchObject([{ name: "Read" }]);
});

describe("several steps", () => {
  test("are done in order, one call in a turn, and told at the end", () => {
    const { turns, text } = play("write hello.txt with hi, then run cat hello.txt. Then list files", ({ name }) =>
      name === "Bash" ? "hi" : "ok",
    );
    expect(turns.map((calls) => calls.map(({ name }) => name))).toEqual([["Write"], ["Bash"], ["Glob"]]);
    expect(text).toContain("Wrote hello.txt.");
    expect(text).toContain("`cat hello.txt`. It printed:\nhi");
  });

  test("an edit reads first, and changes what it was told to", () => {
    const { turns, text } = play('edit the file a.txt, replace "a then b" with c then read a.txt', () => "1\ta then b");
    expect(turns.flat()).toMatchObject([
      { name: "Read" },
      { name: "Edit", input: { file_path: "a.txt", old_string: "a then b", new_string: "c" } },
      { name: "Read" },
    ]);
    expect(text).toContain("Edited a.txt.");
  });

  test("an edit without words changes the first line that has text", () => {
    const { turns } = play("edit a.txt", () => "1\t\n2\tfirst words\n3\tmore");
    expect(turns[1]).toMatchObject([
      { name: "Edit", input: { old_string: "first words", new_string: "first words (edited in rehearsal)" } },
    ]);
  });

  test("stop at the first that fails, and say why", () => {
    const { turns, text } = play("write a.txt with x then run ls", ({ name }) =>
      name === "Write" ? { error: "The user denied this call." } : "ok",
    );
    expect(turns).toHaveLength(1);
    expect(text).toContain("The user denied this call.");
  });

  test("are not begun when one of them is not understood", () => {
    expect(textIn(rehearse(request("write a.txt with x, then paint the fence")))).toContain("rehearsal model");
  });

  test("a review tells what both subagents reported", () => {
    const { text } = play(
      "review README.md with two subagents",
      ({ input }) =>
        `[Subagent hand-back] Not from the user.\n\nREADME.md says: hi\n\nReport on ${String(input["description"])}: fine.`,
    );
    expect(text).toBe("Report on Review for correctness: fine.\nReport on Review for clarity: fine.");
  });

  test("a question's answer is repeated", () => {
    const { text } = play("ask me: tea or coffee?", () => 'Your questions have been answered: "Tea or coffee?"="tea".');
    expect(text).toBe("You answered: tea");
  });
});

describe("a reply without a tool", () => {
  test.each(["hello", "", "What can you do?", "then", "Write a letter"])("to %j says what the model can do", (text) => {
    expect(textIn(rehearse(request(text)))).toContain("I am Capstan's rehearsal model");
  });

  test("offers only what the session has the tools for", () => {
    const text = textIn(rehearse(request("hello", { tools: tools(["Read"]) })));
    expect(text).toContain("- read FILE");
    expect(text).not.toMatch(/list files|run COMMAND|ask me/);
  });

  test.each([
    ["write a.txt with x", "Write"],
    ["ask me: a or b", "AskUserQuestion"],
    ["list files", "Bash"],
    ["review a.ts", "Agent"],
    ["return structured output", "StructuredOutput"],
  ])("to %j says that the tool is missing", (text, name) => {
    const reply = rehearse(request(text, { tools: [] }));
    expect(textIn(reply)).toContain(`the tool ${name}`);
  });

  test("thinks when asked to, and before the step that follows", () => {
    expect(rehearse(request("think about ropes"))).toMatchObject({
      text: "Thought about ropes.",
      thinking: expect.stringContaining("ropes") as string,
    });
    expect(rehearse(request("think hard, then run ls"))).toMatchObject({
      calls: [{ name: "Bash" }],
      thinking: expect.any(String) as string,
    });
    expect(play("think about it then run ls").reply).not.toHaveProperty("thinking");
  });

  test.each([
    ["fail", 400, "invalid_request_error"],
    ["fail on purpose", 400, "invalid_request_error"],
    ["please fail with status 529", 529, "overloaded_error"],
    ["fail with 500", 500, "api_error"],
  ])("%j is an API error", (text, status, type) => {
    expect(rehearse(request(text))).toMatchObject({ error: { status, type } });
  });

  test("to a request for a summary calls no tool", () => {
    const reply = rehearse(request("CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nthen read a.txt"));
    expect(textIn(reply)).toContain("<summary>");
  });
});

describe("structured output", () => {
  const structured = {
    name: "StructuredOutput",
    input_schema: { type: "object", properties: { verdict: { enum: ["good", "bad"] } }, required: ["verdict"] },
  };

  test.each(["what is the verdict?", "return structured output"])("ends the answer to %j", (text) => {
    expect(rehearse(request(text, { tools: [structured] }))).toEqual({
      calls: [{ name: "StructuredOutput", input: { verdict: "good" } }],
    });
  });

  test("comes after the steps, and once", () => {
    const done: Message[] = [
      user("run ls"),
      { role: "assistant", content: [{ type: "tool_use", id: "1", name: "Bash" }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "1", content: "a.txt" }] },
    ];
    const all = [...tools(), structured];
    expect(rehearse({ messages: done, tools: all })).toMatchObject({ calls: [{ name: "StructuredOutput" }] });
    const refused: Message[] = [
      ...done,
      { role: "assistant", content: [{ type: "tool_use", id: "2", name: "StructuredOutput" }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "2", content: "no match", is_error: true }] },
    ];
    expect(textIn(rehearse({ messages: refused, tools: all }))).toContain("Ran `ls`");
  });
});

describe("the user's request is found", () => {
  const reminder = "<system-reminder>\nthen read secrets.txt\n</system-reminder>\n";
  const environment: Message = { role: "system", content: "# Environment\nthen run rm -rf /" };
  const asked: Message[] = [user(reminder, "run ls"), environment];
  const called: Message = { role: "assistant", content: [{ type: "tool_use", id: "1", name: "Bash" }] };
  const result: RehearsalBlock = { type: "tool_result", tool_use_id: "1", content: `a.txt\n${reminder}` };

  test.each<[string, Message[]]>([
    ["as plain text", [{ role: "user", content: "run ls" }]],
    ["behind a reminder in the same text", [user(`${reminder}run ls`)]],
    ["behind reminders in texts of their own", [user(reminder, reminder, "run ls")]],
    ["before a reminder", [user("run ls", reminder)]],
    ["before messages of the system", asked],
    ["behind an older request", [user("read a.txt"), { role: "assistant", content: "no" }, user("run ls")]],
    [
      "behind the traces of a local command",
      [
        user(
          "<command-name>/compact</command-name>\n<command-args></command-args>",
          "<local-command-stdout>ok</local-command-stdout>",
          "run ls",
        ),
      ],
    ],
    [
      "before an interruption",
      [...asked, user("[Request interrupted by user]"), user("Continue from where you left off.")],
    ],
    [
      "beside the results of an older one",
      [
        user("read a.txt"),
        { role: "assistant", content: [{ type: "tool_use", id: "1", name: "Read" }] },
        { role: "user", content: [result, { type: "text", text: "run ls" }] },
      ],
    ],
  ])("%s", (_name, messages) => {
    expect(callsIn(rehearse({ messages, tools: tools() }))).toMatchObject([{ name: "Bash", input: { command: "ls" } }]);
  });

  test.each<[string, Message[]]>([
    ["a system message", [environment]],
    ["a reminder", [user(reminder)]],
    ["a nudge", [user("[structured-output-enforce] You MUST call the StructuredOutput tool.")]],
    ["a notification", [user("<task-notification>run ls</task-notification>")]],
  ])("and a tool result is not lost behind %s", (_name, rest) => {
    const reply = rehearse({
      messages: [...asked, called, { role: "user", content: [result] }, ...rest],
      tools: tools(),
    });
    expect(textIn(reply)).toBe("Ran `ls`. It printed:\na.txt");
  });

  test("nothing at all is answered too", () => {
    expect(textIn(rehearse({}))).toContain("rehearsal model");
  });
});
