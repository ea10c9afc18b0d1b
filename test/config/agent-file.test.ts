import { symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readAgentAsWritten, readAgentFile } from "../../src/config/agent-file.ts";
import { files } from "./files.ts";

const FULL = `name: clerk
model: opus
instructions: |
  Be brief.
  Be kind.
tools: [Read, Bash]
permissions:
  mode: plan
  deny: [WebFetch]
budget: { usd: 0.5, deadline_ms: 60000 }
subagents:
  reviewer: { description: Reviews., instructions: Review., tools: [Read] }
output_schema:
  type: object
  properties: { city: { type: string } }
`;

describe("an agent file", () => {
  test("is a complete definition", async () => {
    using tree = files({ "agent.yaml": FULL });
    expect(await readAgentFile(tree.at("agent.yaml"))).toEqual({
      name: "clerk",
      model: "opus",
      instructions: "Be brief.\nBe kind.\n",
      tools: ["Read", "Bash"],
      permissions: { mode: "plan", allow: [], ask: [], deny: ["WebFetch"] },
      budget: { usd: 0.5, deadline_ms: 60_000 },
      subagents: { reviewer: { description: "Reviews.", instructions: "Review.", tools: ["Read"] } },
      output_schema: { type: "object", properties: { city: { type: "string" } } },
    });
  });

  test("needs a model when it is read alone, and none as a layer", async () => {
    using tree = files({ "agent.yaml": "name: clerk\n" });
    const path = tree.at("agent.yaml");
    await expect(readAgentFile(path)).rejects.toThrow(`${path}:1:1 model: expected text (found nothing)`);
    expect(await readAgentAsWritten(path)).toEqual({ name: "clerk" });
  });

  test("has its output schema inside, not the name of another file", async () => {
    using tree = files({ "agent.yaml": "name: clerk\noutput_schema: ./city.json\n" });
    const path = tree.at("agent.yaml");
    await expect(readAgentAsWritten(path)).rejects.toThrow(
      `${path}:2:16 output_schema: expected a mapping (found "./city.json")`,
    );
  });

  test.each([
    ["missing.yaml", "there is no such file or directory"],
    ["directory", "it is a directory"],
    ["plain/agent.yaml", "a part of the path is not a directory"],
    ["circle.yaml", "its symbolic links lead in a circle"],
    ["latin1.yaml", "it is not UTF-8 text"],
    ["utf16.yaml", "it is not UTF-8 text"],
    ["large.yaml", "it is larger than 1 MiB"],
  ])("%s cannot be read", async (name, reason) => {
    using tree = files({
      plain: "",
      "directory/": "",
      "latin1.yaml": Buffer.from("name: caf\u00e9\n", "latin1"),
      "utf16.yaml": Buffer.from("\uFEFFname: clerk\n", "utf16le"),
      "large.yaml": "#".repeat(1024 * 1024 + 1),
    });
    symlinkSync("circle.yaml", tree.at("circle.yaml"));
    await expect(readAgentFile(tree.at(name))).rejects.toThrow(
      expect.objectContaining({
        code: "invalid_agent",
        message: `Cannot read the agent file ${tree.at(name)}: ${reason}.`,
        data: { file: tree.at(name) },
      }),
    );
  });
});
