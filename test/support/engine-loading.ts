/**
 * Runs one turn on the engine of the first argument in the directory of the second, and prints the answer and what of the
 * Claude engine was loaded. A program of its own: modules are loaded once for a whole process.
 */
import { mkdirSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";

const loaded: string[] = [];
registerHooks({
  load(url, context, next) {
    if (/claude-agent-sdk|engines\/claude\/(?:engine|sdk)\.ts/.test(url)) loaded.push(url);
    return next(url, context);
  },
});

const [engine = "", directory = ""] = process.argv.slice(2);
const [
  { loadedEngines },
  { connectRemoteServer, createToolServer },
  { hostOn },
  { echoEngine },
  { scriptedModel, say },
] = await Promise.all([
  import("../../src/app/engines.ts"),
  import("../../src/app/lazy-tools.ts"),
  import("./engine-host.ts"),
  import("./echo-engine.ts"),
  import("./scripted-model.ts"),
]);
const { agent, testEnvironment } = await import("./host.ts");

await using model = await scriptedModel(() => say("heard"));
const environment = testEnvironment(model.url);
const own = loadedEngines({ path: environment["PATH"] ?? "", retries: 0 }, { createToolServer, connectRemoteServer });
const direct = echoEngine("direct");
const engines = { load: async (name: "claude" | "direct") => (name === "direct" ? direct : own.load(name)) };
const cwd = join(directory, "workspace");
mkdirSync(cwd);
const capacity = { max_load: 1_000, min_free_bytes: 0 };
await using host = await hostOn(engines, { home: join(directory, "home"), environment, capacity });
const session = await host.startSession({ agent: agent({ engine: engine === "direct" ? "direct" : "claude" }), cwd });
const { text } = await session.send("hello").result();
process.stdout.write(JSON.stringify([text, ...loaded]));
