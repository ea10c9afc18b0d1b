import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testCli } from "../support/cli.ts";
import { call, say, scriptedModel } from "../support/scripted-model.ts";

test("the tour: a host dies in a turn, the doctor sees it, recovery settles it, and the session goes on, also elsewhere", async () => {
  await using model = await scriptedModel((request) => {
    if (request.last.includes("Work") && request.toolResults.length === 0)
      return call("Bash", { command: "echo started >> effects.txt; sleep 60; echo late >> effects.txt" });
    return say(`answer ${request.index}`);
  });
  using cli = testCli(model.url);
  const child = cli.start(["run", "--mode", "yolo", "--json", "Work on it."]);
  await expect.poll(() => existsSync(join(cli.cwd, "effects.txt")), { timeout: 20_000 }).toBe(true);
  child.kill("SIGKILL");
  await once(child, "exit");

  const doctor = await cli.run(["doctor"]);
  expect(doctor.stdout).toMatch(/✗ store .*1 session needs recovery\n\s+→ Run: capstan sessions recover/);
  expect(doctor.code).toBe(3);

  const recovered = await cli.run(["sessions", "recover", "--on-crash", "continue"]);
  expect(recovered.stdout).toMatch(/^Session [0-9a-f]{8}: turn ended \(end_turn\)$/m);
  expect(recovered.code).toBe(0);
  expect(model.requests.at(-1)?.transcript).toContain("its outcome is unknown");
  expect((await cli.run(["sessions", "recover"])).stdout).toBe("No sessions to recover.\n");

  const resumed = await cli.run(["run", "-c", "What happened?"]);
  expect(resumed.code).toBe(0);
  expect(model.requests.at(-1)?.transcript).toMatch(/Work on it\.[^]*What happened\?/);
  expect(readFileSync(join(cli.cwd, "effects.txt"), "utf8")).toBe("started\n");

  const [, id = "?"] = /session ([0-9a-f]{8})/.exec(resumed.stdout) ?? [];
  expect((await cli.run(["sessions", "export", id, "-o", "session.jsonl"])).code).toBe(0);
  const elsewhere = { environment: { CAPSTAN_HOME: join(cli.home, "elsewhere") } };
  const imported = await cli.run(["sessions", "import", "--trust", "session.jsonl"], elsewhere);
  expect(imported.stdout).toMatch(/^Imported as session [0-9a-f]{8}\./);
  expect((await cli.run(["run", "-c", "And here?"], elsewhere)).code).toBe(0);
  expect(model.requests.at(-1)?.transcript).toMatch(/Work on it\.[^]*What happened\?[^]*And here\?/);
});

test("without a policy, recovery ends a turn that was cut off, and asks the model nothing", async () => {
  await using model = await scriptedModel(() => call("Bash", { command: "sleep 60" }));
  using cli = testCli(model.url);
  const child = cli.start(["run", "--mode", "yolo", "--json", "Work."]);
  for await (const chunk of child.stdout) if (String(chunk).includes("capstan.permission_decided")) break;
  child.kill("SIGKILL");
  await once(child, "exit");
  const requests = model.requests.length;
  const { stdout } = await cli.run(["sessions", "recover"]);
  expect(stdout).toContain("(retries_exhausted)");
  expect(model.requests.length).toBe(requests);
});
