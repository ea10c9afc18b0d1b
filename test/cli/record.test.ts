import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { openHost } from "../../src/app/open-host.ts";
import { type Cli, testCli } from "../support/cli.ts";
import { testEnvironment } from "../support/host.ts";
import { writeTree } from "../support/suites.ts";
import { call, say, type Script, scriptedModel, text, toolUse, WHICH_COLOUR } from "../support/scripted-model.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";
import { recordTrust } from "../support/trust.ts";

const AGENT = {
  name: "worker",
  instructions: "You do what the message says.",
  model: "claude-opus-4-8",
  tools: ["Read", "Write", "Agent", "AskUserQuestion"],
  subagents: {
    left: { description: "Looks at the left.", instructions: "You look at the left.", tools: ["Read"] },
    right: { description: "Looks at the right.", instructions: "You look at the right.", tools: ["Read"] },
  },
};

/** A question, two subagents side by side, and a file that a person allows; then a second turn. */
function script(cwd: string): Script {
  return ({ agent, body, toolResults }) => {
    if (agent !== "main") {
      const side = JSON.stringify(body.system).includes("the left") ? "left" : "right";
      return toolResults.length > 0 ? say(`The ${side}.`) : call("Read", { file_path: `${cwd}/${side}.txt` });
    }
    switch (body.messages.filter(({ role }) => role === "assistant").length) {
      case 0:
        return call("AskUserQuestion", { questions: [WHICH_COLOUR] });
      case 1:
        return {
          blocks: [
            toolUse("Agent", { subagent_type: "left", description: "Left", prompt: `Look at ${cwd}/left.txt.` }),
            toolUse("Agent", { subagent_type: "right", description: "Right", prompt: "Look at the right." }),
          ],
        };
      case 2:
        return { blocks: [text("Now the file."), toolUse("Write", { file_path: `${cwd}/out.txt`, content: "blue" })] };
      default:
        return say("Done.");
    }
  };
}

/** A session of a while ago; gives its id. */
async function pastSession(cli: Cli, { modelUrl, messages }: { modelUrl: string; messages: readonly string[] }) {
  const environment = { ...testEnvironment(modelUrl), HOME: cli.home };
  await using host = await openHost({ home: join(cli.home, ".capstan"), environment, engine: TEST_ENGINE, retries: 1 });
  const session = await host.startSession({
    agent: AGENT,
    cwd: join(cli.cwd, "place"),
    askPermission: ({ kind }) =>
      kind === "question"
        ? { behavior: "allow", answers: { "Which colour?": "blue" }, by: "somebody" }
        : { behavior: "allow", by: "somebody" },
  });
  for (const message of messages) await session.send(message).result();
  await session.close();
  return session.id;
}

/** Nobody would take it for a secret who does not know it. */
const WORD = "quite-an-ordinary-word";

function place(cli: Cli): string {
  const path = join(cli.cwd, "place");
  writeTree(cli.cwd, { "place/left.txt": `${WORD}\n`, "place/right.txt": "2\n" });
  return path;
}

test("a past session becomes a case that passes without a model, and drifts when the agent is another", async () => {
  using cli = testCli();
  const cwd = place(cli);
  let id: string;
  {
    await using model = await scriptedModel(script(cwd));
    id = await pastSession(cli, { modelUrl: model.url, messages: ["Do all of it.", "Is it done?"] });
  }
  const made = await cli.run(["record", id.slice(-8), "--name", "All of it"]);
  expect(made.stderr).toBe("");
  expect(made).toMatchObject({ code: 0 });
  expect(made.stdout).toContain(
    [
      'Recorded the case "All of it". It passes on replay:',
      "  worker.test.yaml",
      "  agent.yaml",
      "  fixtures/all-of-it",
      "  cassettes/worker.test/all-of-it.json",
      "Run it: capstan test worker.test.yaml",
    ].join("\n"),
  );
  expect(parse(readFileSync(join(cli.cwd, "worker.test.yaml"), "utf8"))).toEqual({
    agent: "agent.yaml",
    cases: [
      {
        name: "All of it",
        engine: TEST_ENGINE,
        fixture: "fixtures/all-of-it",
        turns: [{ input: "Do all of it." }, { input: "Is it done?" }],
        answers: [
          { question: "Which colour?", answer: "blue" },
          { tool: "Write", decision: "allow" },
        ],
        graders: [
          { stop_reason: "end_turn" },
          { tools_called: ["AskUserQuestion", "Agent", "Read", "Write"] },
          { files: { exist: ["out.txt"] } },
          { only_changed: ["/out.txt"] },
        ],
      },
    ],
  });
  expect(readdirSync(join(cli.cwd, "fixtures/all-of-it")).toSorted()).toEqual(["left.txt", "right.txt"]);
  expect(readFileSync(join(cli.cwd, "cassettes/worker.test/all-of-it.json"), "utf8")).not.toContain(cwd);

  const passed = await cli.run(["test"]);
  expect(passed).toMatchObject({ code: 0, stderr: "" });
  const again = await cli.run(["record", id, "--name", "All of it"]);
  expect(again.code).toBe(2);
  expect(again.stderr).toContain("Use another name");

  const environment = { ANTHROPIC_API_KEY: WORD };
  const secret = await cli.run(["record", id, "--name", "Secret"], { environment });
  expect(secret.code).toBe(2);
  expect(secret.stderr).toContain("left.txt in the session's files contains a secret ([redacted:");

  const file = join(cli.cwd, "agent.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("what the message says", "as you like"));
  await recordTrust(cli, "worker.test.yaml");
  const drifted = await cli.run(["test"]);
  expect(drifted.code).toBe(1);
  expect(drifted.stdout).toContain("Request 1 of main has changed since it was recorded: the instructions changed.");
  const other = await cli.run(["record", id, "--suite", "worker.test.yaml", "--name", "More"]);
  expect(other.code).toBe(2);
  expect(other.stderr).toContain("it differs in instructions");
  expect(readdirSync(cli.cwd).toSorted()).toEqual(["agent.yaml", "cassettes", "fixtures", "place", "worker.test.yaml"]);
  expect(readdirSync(join(cli.cwd, "fixtures"))).toEqual(["all-of-it"]);
});

const DEFAULTS = { environment: { CAPSTAN_ENGINE: undefined } };

test("the agent's own file is used where it is the same, and a session that changed nothing has no fixture", async () => {
  using cli = testCli();
  const agent = `name: writer
model: claude-opus-4-8
instructions: "You write files for {{who}}."
tools: [Read]
inputs: { who: { type: string } }
`;
  writeTree(cli.cwd, { "agent.yaml": agent, "a.txt": "hi\n" });
  const ran = await cli.run(
    ["run", "--rehearsal", "-a", "agent.yaml", "--input", "who=us", "read a.txt", "--engine", "direct"],
    DEFAULTS,
  );
  expect(ran).toMatchObject({ code: 0 });
  const { id } = JSON.parse((await cli.run(["sessions", "list", "--json"])).stdout) as { id: string };
  const named = await cli.run(["record", id, "--suite", "agent.yaml"]);
  expect(named).toMatchObject({ code: 2, stdout: "" });
  expect(readdirSync(cli.cwd).toSorted()).toEqual(["a.txt", "agent.yaml"]);
  const made = await cli.run(["record", id, "--json"], DEFAULTS);
  expect(JSON.parse(made.stdout)).toMatchObject({
    case: "read a.txt",
    files: ["writer.test.yaml", "cassettes/writer.test/read-a-txt.json"],
    notes: [
      expect.stringContaining("The session has no checkpoint, so the case has no fixture"),
      "The replay differs from the session: call 1 of main (Read): completed in the session, failed now.",
    ],
  });
  expect(parse(readFileSync(join(cli.cwd, "writer.test.yaml"), "utf8"))).toMatchObject({
    agent: "agent.yaml",
    // The agent's file names no engine, and the default is another one.
    cases: [{ input: "read a.txt", inputs: { who: "us" }, engine: "direct" }],
  });
  expect(await cli.run(["test"], DEFAULTS)).toMatchObject({ code: 0 });
});
