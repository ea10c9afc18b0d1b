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
const [{ openHost }, { scriptedModel, say }, { agent, ANY_PRESSURE, testEnvironment }] = await Promise.all([
  import("../../src/app/open-host.ts"),
  import("./scripted-model.ts"),
  import("./host.ts"),
]);

await using model = await scriptedModel(() => say("heard"));
const environment = testEnvironment(model.url);
const cwd = join(directory, "workspace");
mkdirSync(cwd);
await using host = await openHost({ home: join(directory, "home"), environment, capacity: ANY_PRESSURE });
const session = await host.startSession({ agent: agent({ engine: engine === "direct" ? "direct" : "claude" }), cwd });
const { text } = await session.send("hello").result();
process.stdout.write(JSON.stringify([text, ...loaded]));
