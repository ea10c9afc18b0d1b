import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { openHost } from "../../src/app/open-host.ts";
import { sandboxTest } from "../support/hostile-world.ts";
import { agent, ANY_PRESSURE, eventsOf, ofType, testEnvironment } from "../support/host.ts";
import { call, say, scriptedModel } from "../support/scripted-model.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";
import { until } from "../support/until.ts";
import { repository } from "../support/yolo-agent.ts";

sandboxTest("a command in the background writes no configuration that lasts, though its turn is over", async () => {
  using place = repository();
  writeFileSync(
    place.at("plant.sh"),
    "until [ -e go ]; do sleep 0.05; done; echo script-shell=evil > sub/.npmrc; touch done; sleep 1000",
  );
  await using model = await scriptedModel(({ toolResults }) =>
    toolResults.length === 0 ? call("Bash", { command: "sh plant.sh", run_in_background: true }) : say("done"),
  );
  await using host = await openHost({
    home: join(place.base, "home"),
    engine: TEST_ENGINE,
    environment: testEnvironment(model.url),
    capacity: ANY_PRESSURE,
  });
  const session = await host.startSession({
    agent: agent({ tools: ["Bash"], permissions: { mode: "yolo" } }),
    cwd: place.cwd,
    environment: { checkpoints: { mode: "off" }, sandbox: { mode: "required", auto_allow_sandboxed: true } },
  });
  await session.send("Start it.").result();
  expect(existsSync(place.at("sub/.npmrc"))).toBe(false);
  if (TEST_ENGINE === "claude") {
    // Its background commands are switched off.
    expect(ofType(await eventsOf(host, session.id), "agent.tool_result")).toMatchObject([{ outcome: "failed" }]);
    return;
  }
  writeFileSync(place.at("go"), "");
  await until(() => existsSync(place.at("done")), Boolean);
  expect(existsSync(place.at("sub/.npmrc"))).toBe(true);
  await session.close();
  expect(existsSync(place.at("sub/.npmrc"))).toBe(false);
  expect(readFileSync(place.at("sub/.npmrc.disabled-by-capstan"), "utf8")).toContain("evil");
  expect(ofType(await eventsOf(host, session.id), "capstan.configuration_changed")).toMatchObject([
    { disabled: [{ path: "sub/.npmrc" }] },
  ]);
});
