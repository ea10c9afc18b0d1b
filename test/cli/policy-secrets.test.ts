import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testCli } from "../support/cli.ts";
import { recordTrust } from "../support/trust.ts";

test("policy check knows a project's .env with a credential for what it is to a session: hidden", async () => {
  using cli = testCli();
  mkdirSync(join(cli.cwd, ".capstan"));
  writeFileSync(join(cli.cwd, ".env"), "ANTHROPIC_API_KEY=sk-ant-test\n");
  writeFileSync(
    join(cli.cwd, "agent.yaml"),
    "name: reader\ntools: [Read]\nenvironment: { sandbox: { mode: required } }\n",
  );
  const check = async () =>
    JSON.parse((await cli.run(["policy", "check", "Read(.env)", "-a", "agent.yaml", "--json"])).stdout);
  const hidden = { behavior: "deny", decidedBy: expect.stringContaining("sandbox") };
  // Also while nobody has trusted it, and nothing in it is used.
  expect(await check()).toMatchObject(hidden);
  await recordTrust(cli);
  expect(await check()).toMatchObject(hidden);
});
