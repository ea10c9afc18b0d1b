import { expect, test } from "vitest";
import { testCli } from "../support/cli.ts";
import { HIDDEN_CHARACTERS, hiddenIn } from "../support/hidden-characters.ts";
import { call, say, scriptedModel, toolUse } from "../support/scripted-model.ts";

const HIDDEN = HIDDEN_CHARACTERS.map((character) => `.${character}.`).join("");
/** No tool takes a path with control characters. */
const NAME = "file\u202Etxt.exe\u200B";

test("every command escapes hidden characters from agents, people and file names", async () => {
  await using model = await scriptedModel(({ toolResults, last }) => {
    if (last.includes("only talk")) return say(`Said ${HIDDEN}`);
    if (toolResults.length > 0) return call("Write", { file_path: `../${NAME}`, content: HIDDEN });
    return {
      blocks: [{ type: "text", text: `Said ${HIDDEN}` }, toolUse("Write", { file_path: NAME, content: HIDDEN })],
    };
  });
  using cli = testCli(model.url);
  const shown = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await cli.run(args);
    expect(hiddenIn(stdout + stderr), args.join(" ").slice(0, 60)).toEqual([]);
    return stdout + stderr;
  };
  const json = async (...args: string[]): Promise<unknown[]> => {
    const text = await shown(...args, "--json");
    return text
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
  };
  expect(await shown("run", `only talk ${HIDDEN}`)).toContain("\\u{202e}");
  expect(JSON.stringify(await json("run", `only talk ${HIDDEN}`))).toContain(JSON.stringify(HIDDEN).slice(1, -1));
  expect(await shown("run", "--mode", "accept-edits", `Work \u202E ${HIDDEN}`)).toContain("\\u{202e}");
  expect(await shown("sessions", "list")).toContain("\\u{");
  await json("sessions", "list");
  const [waiting] = (await json("approvals", "list")) as { readonly id: string; readonly sessionId: string }[];
  const { id = "", sessionId = "" } = waiting ?? {};
  expect(await shown("sessions", "show", sessionId)).toContain("\\u{202e}");
  await json("sessions", "show", sessionId);
  await shown("approvals", "list");
  expect(await shown("approvals", "show", id)).toContain("\\u{202e}");
  expect(await shown("diff", sessionId)).toContain("\\u{202e}");
  await json("diff", sessionId);
  await shown("audit", "verify");
  const { stdout } = await cli.run(["chat"], { input: "only talk\n" });
  expect(stdout).toContain("\\u{202e}");
  expect(hiddenIn(stdout)).toEqual([]);
}, 400_000);
