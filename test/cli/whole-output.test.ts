import { expect, test } from "vitest";
import { testCli } from "../support/cli.ts";
import { jsonLines, sessionOf } from "./workspaces-sessions.ts";

test("a session says which of its outputs are longer, and prints one whole", async () => {
  using cli = testCli();
  const session = await sessionOf(cli, ["run seq 1 30000"]);
  const { stdout } = await cli.run(["sessions", "show", session]);
  const [, call = ""] = /168,894 bytes of output\. To print them: --output (\w+)/.exec(stdout) ?? [];
  const printed = await cli.run(["sessions", "show", session, "--output", call]);
  expect(printed).toMatchObject({ code: 0, stderr: "" });
  expect(printed.stdout).toMatch(/^1\n2\n[^]*\n29999\n30000\n$/);
  expect(jsonLines((await cli.run(["sessions", "show", session, "--json"])).stdout)).toContainEqual(
    expect.objectContaining({ whole_output: { hash: expect.any(String) as string, bytes: 168_894, total: 168_894 } }),
  );
  expect(await cli.run(["sessions", "show", session, "--output", "none"])).toMatchObject({ code: 2, stdout: "" });
  expect((await cli.run(["sessions", "show", session, "--output", call, "--json"])).code).toBe(2);
});
