import { expect, test } from "vitest";
import { openConsole } from "../support/console.ts";
import { say } from "../support/scripted-model.ts";

/** A browser has six connections to a server for all its tabs: a seventh that follows a session must find one. */
const TABS = 8;

test("many tabs follow their sessions at once", async () => {
  await using console = await openConsole({
    script: ({ last }) => say(last.includes("again") ? "The second answer." : "The first answer."),
  });
  const { id } = await console.client.sessions.create({ message: "hello" });
  const tabs = await Promise.all(Array.from({ length: TABS }, () => console.context.newPage()));
  for (const tab of tabs) {
    await tab.goto(`${console.url}/sessions/${id}`);
    await tab.getByRole("log").getByText("The first answer.").waitFor();
  }
  await console.client.sessions.send(id, "again");
  for (const tab of tabs) await tab.getByRole("log").getByText("The second answer.").waitFor();
  expect(console.complaints).toEqual([]);
});
