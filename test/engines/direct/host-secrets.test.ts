import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { usableHere } from "../../../src/engines/direct/engine.ts";
import { findContainment } from "../../../src/process/containment.ts";
import { agent, ofType, testHost } from "../../support/host.ts";
import { say, toolUse } from "../../support/scripted-model.ts";

/** A loop in the host keeps the model key in the host's own variables and memory, where commands may look for it. */
describe("a command without a sandbox", () => {
  test("sees no process of the host, where the machine can contain it", async () => {
    const host = process.pid;
    const command = [
      `cat /proc/${host}/environ > /dev/null && echo environ-read`,
      `head -c 1 /proc/${host}/mem > /dev/null; [ -e /proc/${host} ] && echo host-seen`,
      `kill -0 ${host} && echo host-reached`,
      "cat /proc/[0-9]*/environ | tr '\\0' '\\n'",
      "true",
    ].join("\n");
    let seen = "";
    await using t = await testHost(({ toolResults: [result] }) => {
      if (result === undefined) return { blocks: [toolUse("Bash", { command })] };
      seen = result.text;
      return say("done");
    });
    const session = await t.host.startSession({
      agent: agent({ engine: "direct", tools: ["Bash"], permissions: { mode: "yolo" } }),
      cwd: t.cwd,
    });
    await session.send("Look for the key.").result();
    const isContained = (await findContainment()) !== undefined;
    expect(ofType(await t.host.read(session.id), "capstan.process_started")[0]?.contained).toBe(isContained);
    // Its own variables it does see, …
    expect(seen).toContain(`CAPSTAN_SESSION=${session.id}`);
    // … and those of the host only where nothing contains it, as docs/security.md says.
    const own = readFileSync("/proc/self/environ", "utf8").split("\0");
    const hostLines = own.filter((line) => /^(?:VITEST|NODE_ENV|npm_|HOME=)/.test(line));
    expect(hostLines.length).toBeGreaterThan(0);
    const found = ["environ-read", "host-seen", "host-reached", ...hostLines].filter((text) =>
      seen.split("\n").includes(text),
    );
    expect(found.length > 0).toBe(!isContained);
    expect(seen).not.toContain(t.environment["ANTHROPIC_API_KEY"]);
  });
});

test("a sandbox that only the Claude CLI can use is none for this engine", () => {
  expect(usableHere({}).missing).toContain("has no sandbox");
  expect(usableHere({ confine: ["bwrap"] })).toEqual({ confine: ["bwrap"] });
  expect(usableHere({ missing: "not installed" })).toEqual({ missing: "not installed" });
});
