import { expect, test } from "vitest";
import { loadedEngines } from "../../src/app/engines.ts";
import { connectRemoteServer, createToolServer } from "../../src/app/lazy-tools.ts";
import { echoEngine } from "../support/echo-engine.ts";
import { hostOn, theseEngines } from "../support/engine-host.ts";
import { agent, ofType, testHost } from "../support/host.ts";
import { call, say } from "../support/scripted-model.ts";

test("a session goes from claude to direct and back, and each engine has the earlier messages, calls and results", async () => {
  await using place = await testHost(({ last, toolResults }) => {
    if (toolResults.length > 0) return say("It says sesame.");
    return last.includes("Look") ? call("Bash", { command: "echo sesame" }) : say("Understood.");
  });
  const { home, environment, model, cwd } = place;
  const own = loadedEngines({ path: environment["PATH"] ?? "", retries: 0 }, { createToolServer, connectRemoteServer });
  const seen: string[] = [];
  const direct = echoEngine("direct", { seen });
  const engines = theseEngines(await own.load("claude"), direct);
  await using host = await hostOn(engines, { home, environment, capacity: { max_load: 1_000, min_free_bytes: 0 } });
  const session = await host.startSession({
    agent: agent({ tools: ["Bash"], permissions: { allow: ["Bash"] } }),
    cwd,
  });
  await session.send("Look.").result();
  await session.setEngine("direct");
  expect((await session.send("Second.").result()).text).toBe("direct: Second.");
  expect(seen).toEqual(["open direct: Look. | It says sesame."]);
  const [, called] = direct.requests[0]?.history ?? [];
  expect(called).toMatchObject({ blocks: [{ kind: "call", name: "Bash" }], results: [{ isError: false }] });
  await session.setEngine("claude");
  await session.send("Third.").result();
  const { messages = [] } = model.requests.at(-1)?.body ?? {};
  // The CLI adds remarks of its own.
  const talk = messages.filter(({ role }) => role !== "system");
  expect(talk.map(({ role }) => role).join(" ")).toBe("user assistant user assistant user assistant user");
  const parts = ["Look.", "echo sesame", "sesame", "It says sesame.", "Second.", "direct: Second.", "Third."];
  expect(talk.map(({ content }, at) => JSON.stringify(content).includes(parts[at] ?? ""))).toEqual(
    parts.map(() => true),
  );
  const events = await host.read(session.id);
  expect(ofType(events, "capstan.process_started").map(({ engine, history }) => [engine, history])).toEqual([
    ["claude", "new"],
    ["direct", "reseeded"],
    ["claude", "reseeded"],
  ]);
});
