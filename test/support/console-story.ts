import { call, type Reply, say, type Script, text, thinking, toolUse, WHICH_COLOUR } from "./scripted-model.ts";

/** What the model does in a project with a wrong sum: every sort of thing that a console shows, in a plausible order. */

const WRONG = "export const total = (items) => items.reduce((sum, { price }) => sum + price, 0);\n";

export const FILES: Readonly<Record<string, string>> = {
  "src/total.mjs": WRONG,
  "test/total.test.mjs": `import assert from "node:assert/strict";
import { test } from "node:test";
import { total } from "../src/total.mjs";

test("counts", () => assert.equal(total([{ price: 2, count: 3 }]), 6));
`,
};

const SUMMARY = `The total left out how many of each item there are. I changed one line in \`src/total.mjs\` and ran the tests:

| | before | after |
|---|---|---|
| \`node --test\` | 1 failed | **1 passed** |

\`\`\`js
items.reduce((sum, { price, count }) => sum + price * count, 0);
\`\`\`

What I did **not** touch: rounding. It is still done where the total is shown.`;

const usage = { cache_read_input_tokens: 14_200, cache_creation_input_tokens: 900 };
const step = (reply: Reply): Reply => ({ ...reply, usage });

/** By the beginning of the first message: what comes in turn. */
const TURNS: Readonly<Record<string, readonly Reply[]>> = {
  "The total": [
    {
      blocks: [
        thinking("The total is wrong for more than one piece. First the code, then its test."),
        text("I look at the code first."),
        toolUse("Read", { file_path: "src/total.mjs" }),
      ],
    },
    call("Bash", { command: "node --test test/total.test.mjs", description: "Run the tests" }),
    call("Edit", {
      file_path: "src/total.mjs",
      old_string: "{ price }) => sum + price",
      new_string: "{ price, count }) => sum + price * count",
    }),
    call("Bash", { command: "node --test test/total.test.mjs", description: "Run the tests again" }),
    say(SUMMARY),
  ],
  "Clean up": [
    {
      blocks: [
        text("The old build can go; then I publish."),
        toolUse("Bash", {
          command: "rm -rf build && npm publish --access public",
          description: "Remove the build and publish",
        }),
      ],
    },
    say("Done."),
  ],
  "Choose a": [{ blocks: [toolUse("AskUserQuestion", { questions: [WHICH_COLOUR] })] }, say("Blue it is.")],
  "Review the": [
    {
      blocks: [
        text("Two reviewers look at it side by side."),
        toolUse("Agent", {
          description: "Correctness",
          prompt: "Look for errors in src/total.mjs.",
          subagent_type: "reviewer",
          run_in_background: false,
        }),
        toolUse("Agent", {
          description: "Tests",
          prompt: "Look for missing tests of src/total.mjs.",
          subagent_type: "reviewer",
          run_in_background: false,
        }),
      ],
    },
    say("Both agree: the change is right. A test with an empty list is missing."),
  ],
};

export const storyScript: Script = ({ agent, body, transcript }) => {
  const answers = body.messages.filter(({ role }) => role === "assistant").length;
  if (agent !== "main")
    return step(
      answers === 0
        ? call("Read", { file_path: "src/total.mjs" })
        : say("The sum is right for every count that I tried."),
    );
  const [, turns] = Object.entries(TURNS).find(([begin]) => transcript.includes(begin)) ?? [];
  return step(turns?.[answers] ?? say("Done."));
};
