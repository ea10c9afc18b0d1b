import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { money } from "../../src/words/amounts.ts";
import { openHost } from "../../src/app/open-host.ts";
import type { CapstanClient, SessionInput } from "../../src/client/index.ts";
import { isTooWide, seriousBarriers } from "../support/barriers.ts";
import { openConsole } from "../support/console.ts";
import { agent, testEnvironment } from "../support/host.ts";
import { call, say } from "../support/scripted-model.ts";

const SETTINGS = `
budgets:
  project: { tokens: 1000000, warn_at: 0.5 }
  day: { turns: 3, time_zone: Pacific/Kiritimati }
  agents: { reviewer: { usd: 10 } }
`;

/** Resolves when the session has done what it was told. */
async function runSession(client: CapstanClient, input: SessionInput): Promise<string> {
  const { id } = await client.sessions.create(input);
  await expect.poll(async () => (await client.sessions.get(id)).status).toBe("idle");
  return id;
}

/** The color of a canvas near its corner. */
const COLOR_INSIDE = `(canvas) => {
  const [red, green, blue] = canvas.getContext("2d").getImageData(4, 4, 1, 1).data;
  return "rgb(" + [red, green, blue].join(", ") + ")";
}`;

/** What a variable of the page's styles stands for. */
const resolved = (page: Page, name: string): Promise<string> =>
  page.evaluate(`(() => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.cssText = "transition: none; color: var(${name})";
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  })()`);

/** The chart with this heading, and what belongs to it. */
function card(page: Page, title: string): Locator {
  return page.getByRole("region", { name: title, exact: true });
}

test("what was spent is shown by day, agent and model, with what is left and what is not known", async () => {
  const usage = { input_tokens: 1_000, output_tokens: 500, cache_read_input_tokens: 3_000 };
  await using console = await openConsole({
    settings: SETTINGS,
    script: ({ body, last }) =>
      body.model.startsWith("claude") && last.includes("look")
        ? { ...call("Glob", { pattern: "*" }), usage }
        : { ...say("ok"), usage },
  });
  const { page, client, complaints } = console;

  await page.goto(`${console.url}/costs`);
  await page.getByText("No model requests in the last 30 days").waitFor();
  await page.getByRole("link", { name: "Start a session" }).waitFor();

  const title = "مراجعة <b>bold</b> and a name that is rather long";
  const first = await runSession(client, {
    title,
    message: "look",
    agent_definition: agent({ name: "reviewer", tools: ["Glob"] }),
  });
  await runSession(client, {
    message: "speak",
    agent_definition: agent({ name: "mystery", model: "some-model-7" }),
  });
  const gone = await runSession(client, { message: "speak", agent_definition: agent({ name: "passing" }) });
  await client.sessions.delete(gone);

  await page.reload();
  await page.getByText("days start at midnight in Pacific/Kiritimati (the settings' time zone)").waitFor();
  await page.getByText(/1 request used a model without a known price \(some-model-7\)/).waitFor();

  // The canvas is told as text, and the table has its figures.
  const cost = card(page, "Cost by agent");
  await cost.getByRole("img", { name: /^Cost by agent, pay as you go: ≥ \$0\.\d+ in 30 days, most on / }).waitFor();
  await cost.getByRole("list", { name: "Legend" }).getByText("reviewer").waitFor();
  // In color, also for those who want no motion, as this browser does.
  await expect
    .poll(() => page.evaluate(`(${COLOR_INSIDE})(document.querySelector("ul[aria-label=Legend] canvas"))`))
    .toBe(await resolved(page, "--series-1"));
  await cost.getByRole("button", { name: "Show as table" }).press("Enter");
  const table = cost.getByRole("table");
  expect(await table.getByRole("row").count()).toBe(31);
  expect(await table.getByRole("columnheader").allTextContents()).toEqual([
    "Day",
    "reviewer",
    "passing",
    "mystery",
    "Total",
  ]);
  const ledger = await client.ledger({ by: "day", split: "agent", time_zone: "Pacific/Kiritimati" });
  const reviewer = ledger.data.find(({ part }) => part === "reviewer")?.usd ?? 0;
  const today = await table.getByRole("row").nth(1).getByRole("cell").allTextContents();
  expect(today[1]).toBe(money(reviewer));

  // The pointer reads the same.
  const over = cost.locator(".u-over");
  const box = await over.boundingBox();
  await over.hover({ position: { x: (box?.width ?? 0) - 6, y: 40 } });
  const readOut = await cost.locator("[data-read-out]").textContent();
  expect(readOut).toContain(today[0]);
  expect(readOut).toContain(`reviewer${today[1]}`);

  await card(page, "Cache hit rate")
    .getByRole("img", { name: /75% overall/ })
    .waitFor();

  // What is left.
  const turns = page.getByRole("meter", { name: /^Today/ });
  expect(await turns.getAttribute("aria-valuetext")).toBe("3 of 3 turns spent, 0 turns left");
  await page.getByText("Used up: no further requests are sent").waitFor();
  expect(await page.getByRole("meter", { name: /^Project/ }).getAttribute("aria-valuemax")).toBe("1000000");

  // What cost most: the one that was deleted is still told.
  const sessions = page.getByRole("table", { name: "Most expensive sessions, pay as you go" });
  const link = sessions.getByRole("link", { name: title });
  expect(await link.getAttribute("href")).toBe(`/sessions/${first}`);
  await sessions.getByText(`${gone} (deleted)`).waitFor();
  const tools = page.getByRole("table", { name: "Most expensive tools, pay as you go" });
  await tools.getByRole("cell", { name: "Glob", exact: true }).waitFor();

  // What is chosen stands in the address, and is reached by keyboard.
  await page.getByRole("radio", { name: "By agent" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/by=model/);
  await card(page, "Tokens by model").getByRole("list", { name: "Legend" }).getByText("some-model-7").waitFor();
  await page.getByRole("radio", { name: "7 days" }).check();
  await card(page, "Cost by model")
    .getByRole("img", { name: /in 7 days/ })
    .waitFor();

  // Another payer is another page of figures, and never added to the first one.
  expect(await page.getByRole("radio", { name: /Rehearsal/ }).count()).toBe(0);
  {
    const home = join(console.directory, "..", "home");
    await using host = await openHost({ home, environment: testEnvironment("http://127.0.0.1:9"), rehearsal: true });
    const { project } = await client.whoami();
    const session = await host.startSession({ agent: agent({ name: "actor" }), cwd: console.directory, project });
    await session.send("think about it").result();
  }
  await page.reload();
  await page.getByRole("radio", { name: /Rehearsal/ }).check();
  await page.getByText("Nothing was spent. This is what the real model would have cost.").waitFor();
  await card(page, "Cost by model")
    .getByRole("img", { name: /^Cost by model, rehearsal: \$/ })
    .waitFor();

  expect(await seriousBarriers(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await seriousBarriers(page)).toEqual([]);
  expect(await isTooWide(page)).toBe(false);
  await expect
    .poll(() => page.evaluate("document.querySelector('canvas[role=img]').getBoundingClientRect().right <= 360"))
    .toBe(true);
  expect(complaints).toEqual([]);
});
