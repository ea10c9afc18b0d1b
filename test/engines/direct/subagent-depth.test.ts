import { expect, test } from "vitest";
import { agent, ofType } from "../../support/host.ts";
import { call, type ModelRequest, say } from "../../support/scripted-model.ts";
import { directHost } from "./direct-host.ts";

const canDelegate = ({ body }: ModelRequest): boolean => body.tools?.some(({ name }) => name === "Agent") === true;

test("a subagent that is spoken to after a restart starts no others than it could before", async () => {
  let speaksTo = "";
  await using t = await directHost((request) => {
    const { agent: line, toolResults, last } = request;
    if (toolResults.length > 0) return say(line === "main" ? "done" : "reported");
    if (line === "main" && last.includes("Again"))
      return call("SendMessage", { to: speaksTo, message: "Once more.", summary: "again" });
    if (!canDelegate(request)) return say("as deep as can be");
    return call("Agent", { description: "deeper", subagent_type: "digger", prompt: "Dig." });
  });
  const digging = agent({ subagents: { digger: { description: "digs", instructions: "You dig." } } });
  await using session = await t.host.startSession({ agent: digging, cwd: t.cwd });
  await session.send("Dig.").result();
  const threads = ofType(await t.host.read(session.id), "session.thread_created");
  expect(threads).toHaveLength(5);
  const deepest = t.model.requests.find((request) => request.agent !== "main" && !canDelegate(request));
  speaksTo = deepest?.agent ?? "";
  await session.hibernate();
  const asked = t.model.requests.length;
  await session.send("Again.").result();
  const again = t.model.requests.slice(asked).filter((request) => request.agent === speaksTo);
  expect(again.length).toBeGreaterThan(0);
  for (const request of again) expect(canDelegate(request)).toBe(false);
  expect(ofType(await t.host.read(session.id), "session.thread_created")).toHaveLength(5);
});
