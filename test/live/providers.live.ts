import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { providerStatuses } from "../../src/app/credentials/credential-status.ts";
import { openHost } from "../../src/app/open-host.ts";
import { ofType, temporaryDirectory } from "../support/host.ts";

/** Sessions are kept here, so that nothing of the person's own home is used but the credentials in variables. */
const directory = temporaryDirectory();
const home = join(directory.path, "home");
const cwd = join(directory.path, "work");
mkdirSync(cwd);
afterAll(() => directory[Symbol.dispose]());
const environment = process.env;
const model = environment["CAPSTAN_LIVE_MODEL"] || "claude-haiku-4-5";

const usable = (await providerStatuses({ home, environment })).filter(({ isComplete }) => isComplete);

test("the providers that are set up here are known", () => {
  console.log(`Set up here: ${usable.map(({ provider }) => provider).join(", ") || "none, so that nothing is tried"}`);
});

test.for(usable)("$provider answers", async ({ provider }) => {
  await using host = await openHost({ home, environment, auth: { provider } });
  const agent = { name: "live", model, instructions: "Answer with one word.", budget: { usd: 0.1 } };
  const session = await host.startSession({ agent, cwd });
  const { text } = await session.send("Say ok.").result();
  expect(text.toLowerCase()).toContain("ok");
  const [request] = ofType(await host.read(session.id), "span.model_request_end");
  expect(request).toMatchObject({ is_error: false, estimated: false });
  expect(request?.model_usage.output_tokens).toBeGreaterThan(0);
});
