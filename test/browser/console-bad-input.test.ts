import { statSync } from "node:fs";
import type { Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import { alteredSession } from "../support/altered-session.ts";
import { isTooWide } from "../support/barriers.ts";
import { type Console, openConsole } from "../support/console.ts";
import { DEEP_LISTS, HOSTILE_LINE, HOSTILE_MARKDOWN, HOSTILE_MARKUP, RIGHT_TO_LEFT } from "../support/hostile-texts.ts";
import { obedient, order, type Step } from "../support/obedient-model.ts";
import { text } from "../support/scripted-model.ts";
import { until } from "../support/until.ts";

/** What goes wrong around the console, and what others write into it: each test goes on where the one before has stopped. */

let console: Console;
let page: Page;
/** Requests of any page to somebody else than the server. */
const foreign: string[] = [];
const ids = { hostile: "", asking: "", question: "", agent: "" };

beforeAll(async () => {
  console = await openConsole({
    script: async (request) => {
      const reply = await obedient(request);
      const isOver = "blocks" in reply && reply.blocks.every(({ type }) => type === "text");
      return isOver ? { blocks: [HOSTILE_MARKDOWN, DEEP_LISTS, RIGHT_TO_LEFT].map(text) } : reply;
    },
  });
  ({ page } = console);
  console.context.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(console.url)) foreign.push(request.url());
  });
  const { id } = await console.client.agents.create({
    definition: {
      name: "hostile",
      description: HOSTILE_LINE,
      instructions: HOSTILE_MARKDOWN,
      model: "claude-opus-4-8",
      tools: ["Bash", "Write", "AskUserQuestion"],
      permissions: { allow: ["Bash(printf *)", "Write(./**)"], approvals_expire_ms: 3_600_000 },
    },
  });
  ids.agent = id;
});
afterAll(() => console[Symbol.asyncDispose]());

/** A session whose first turn is over, or waits for somebody. */
async function startSession(message: string, more: { title?: string } = {}): Promise<string> {
  const environment = parseEnvironment({ workspace: { kind: "copy", mounts: [{ source: ".", target: "." }] } });
  const { id } = await console.client.sessions.create({ agent: { id: ids.agent }, message, environment, ...more });
  await until(
    () => console.client.sessions.get(id),
    ({ status, state, waiting }) =>
      status === "idle" && state.turns > 0 && (waiting > 0 || state.stop_reason?.type !== "requires_action"),
  );
  return id;
}

const open = async (path: string, on = page): Promise<void> => void (await on.goto(`${console.url}${path}`));
/** Every page, with something that only it has. */
const pages = (): readonly (readonly [path: string, has: string])[] => [
  ["/", "Sessions"],
  ["/new", "First message"],
  ["/approvals", "Approvals"],
  ["/costs", "Costs"],
  ["/agents", "Agents"],
  [`/agents/${ids.agent}`, "hostile"],
  ["/policy", "Policy"],
  ["/audit", "Audit"],
  [`/audit/${ids.hostile}`, "onerror"],
  ["/tests", "Tests"],
  ["/settings", "Settings"],
  [`/sessions/${ids.hostile}`, "onerror"],
  [`/sessions/${ids.asking}`, "Asked"],
  [`/sessions/${ids.question}`, "Question from the agent"],
];

test("nothing that a model, a tool or a person writes runs, loads anything or breaks the layout", async () => {
  const hostileCalls: Step[] = [
    ["Bash", { command: `printf '%s' '${HOSTILE_MARKUP}'`, description: HOSTILE_MARKUP }],
    ["Write", { file_path: `<img src=x onerror=window.pwned=1>${"w".repeat(150)}.html`, content: HOSTILE_MARKDOWN }],
  ];
  const options = [
    { label: RIGHT_TO_LEFT, description: HOSTILE_LINE },
    { label: "b", description: "c" },
  ];
  const questions = [{ question: RIGHT_TO_LEFT, header: "h", options, multiSelect: false }];
  [ids.hostile, ids.asking, ids.question] = await Promise.all([
    startSession(order(...hostileCalls), { title: HOSTILE_LINE }),
    startSession(order(["Bash", { command: `touch '${HOSTILE_MARKUP} \u202Egnp.exe'`, description: HOSTILE_LINE }])),
    startSession(order(["AskUserQuestion", { questions }]), { title: RIGHT_TO_LEFT }),
  ]);
  await page.setViewportSize({ width: 360, height: 740 });
  for (const [path, has] of pages()) {
    await open(path);
    await page.locator("main").getByText(has).first().waitFor();
    await page.getByRole("status").filter({ hasText: "Loading" }).first().waitFor({ state: "detached" });
    expect(await page.evaluate("window.pwned"), path).toBeUndefined();
    expect(await isTooWide(page), path).toBe(false);
  }
  await open(`/sessions/${ids.hostile}`);
  await page.getByText("Shown as source").waitFor();
  const said = page.getByRole("article", { name: "The agent said" }).last();
  expect(await said.locator("> div:dir(rtl)").count()).toBe(1);
  // Only what is in sight is in the page: up to the beginning.
  const log = page.getByRole("log");
  const seen = new Set<string>();
  for (let step = 0; step < 40 && !seen.has("first"); step += 1) {
    await page.evaluate(`document.querySelector("[role=log]").scrollTop -= 600`);
    const found = await log.locator("script, iframe, img, style, object, embed, a:not([href^=http])").all();
    expect(found).toEqual([]);
    for (const part of ["image not loaded: a picture", "The end of what is hostile", "Exit code 0", "Do exactly this"])
      if ((await log.getByText(part).count()) > 0) seen.add(part === "Do exactly this" ? "first" : part);
    await page.evaluate("new Promise(requestAnimationFrame)");
  }
  expect(seen.size).toBe(4);
  expect(await page.evaluate("window.pwned")).toBeUndefined();
  expect(await isTooWide(page)).toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(foreign).toEqual([]);
  expect(console.complaints).toEqual([]);
});

test("an output of 50 MB opens at once, shows its beginning, and can be saved whole", async () => {
  const beginning = "the first line\n";
  const output = beginning + "0123456789abcde\n".repeat(3_276_800);
  const { value: first } = await console.client.sessions.events(ids.hostile, { types: ["agent.tool_result"] }).next();
  const long = await alteredSession(console, ids.hostile, (event) =>
    event.type === "agent.tool_result" && event.id === first?.id
      ? { ...event, content: [{ type: "text", text: output }] }
      : event,
  );
  await open(`/sessions/${long}`);
  const log = page.getByRole("log");
  await log.getByText(RIGHT_TO_LEFT).waitFor();
  const save = page.getByRole("button", { name: "The output is truncated. Save it in full" }).first();
  while ((await save.count()) === 0) await page.evaluate(`document.querySelector("[role=log]").scrollTop -= 400`);
  await page.getByText(beginning.trim()).first().waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), save.click()]);
  expect(statSync(await download.path()).size).toBe(output.length);
  await open(`/audit/${long}?seq=${first?.seq}`);
  await page.getByRole("link", { name: "Truncated. Save the full event" }).waitFor();
  await console.client.sessions.delete(long);
});

const AWAY = /The server is not responding|Connection lost/;

test("every page says that the server is away, and goes on by itself when it is back", async () => {
  // The page itself came, and nobody answers it.
  const early = await console.context.newPage();
  await early.route("**/api/**", (route) => route.abort());
  await open("/costs", early);
  await early.getByRole("heading", { name: "The server is not responding" }).waitFor();
  const kinds = pages().filter(([path]) => !path.endsWith(ids.asking) && !path.endsWith(ids.question));
  const tabs = await Promise.all(
    kinds.map(async ([path, has]) => {
      const tab = await console.context.newPage();
      await open(path, tab);
      await tab.locator("main").getByText(has).first().waitFor();
      return { tab, path, has };
    }),
  );
  await console.stop();
  await Promise.all(tabs.map(({ tab }) => tab.getByText(AWAY).first().waitFor()));
  // A page whose files were never loaded cannot be shown now.
  const lost = tabs[0]?.tab ?? page;
  await lost.route("**/assets/*.js", (route) => route.abort());
  await lost.getByRole("link", { name: "Tests" }).first().click();
  await lost.getByText("Could not show this page").waitFor();
  await lost.unroute("**/assets/*.js");
  await console.start();
  await early.unroute("**/api/**");
  await early.getByRole("heading", { name: "Costs" }).waitFor();
  await lost.getByRole("heading", { name: "Tests" }).waitFor();
  for (const { tab, path, has } of tabs.slice(1)) {
    await tab.getByText(AWAY).first().waitFor({ state: "detached" });
    await tab.locator("main").getByText(has).first().waitFor();
    await expect.poll(() => tab.getByRole("alert").count(), { message: path }).toBe(0);
  }
  await Promise.all([early, ...tabs.map(({ tab }) => tab)].map((tab) => tab.close()));
});

test("who is logged out while a page is open is told at once, and comes back to where they were", async () => {
  const { key, id } = await console.client.keys.create({ name: "short", role: "operator" });
  const visitor = await console.visitor("operator");
  const logIn = async (secret: string): Promise<void> => {
    await visitor.getByLabel("Key").fill(secret);
    await visitor.getByRole("button", { name: "Log in" }).click();
  };
  const place = `/sessions/${ids.hostile}?thread=none`;
  await open(place, visitor);
  await visitor.getByText("Back to the main thread").waitFor();
  await visitor.context().clearCookies();
  await visitor.getByRole("heading", { name: "You are logged out" }).waitFor();
  await logIn("ck_wrong");
  await visitor.getByRole("heading", { name: "Not logged in" }).waitFor();
  await logIn(key);
  await visitor.waitForURL(`${console.url}${place}`);
  await visitor.getByText("Back to the main thread").waitFor();
  await console.client.keys.revoke(id);
  await visitor.getByRole("heading", { name: "You are logged out" }).waitFor();
  await visitor.context().close();
});

test("a viewer is offered nothing that would be refused", async () => {
  const viewer = await console.visitor("viewer");
  const refused: string[] = [];
  viewer.on("response", (response) => {
    if (response.status() === 403) refused.push(response.url());
  });
  for (const [path, has] of pages()) {
    await open(path, viewer);
    if (path !== "/new") await viewer.locator("main").getByText(has).first().waitFor();
    for (const tab of await viewer.getByRole("tab").all()) await tab.click();
    expect(await viewer.getByRole("button", { name: OFFERS, disabled: false }).count(), path).toBe(0);
  }
  expect(refused).toEqual([]);
  await viewer.context().close();
});

const OFFERS = /^(Allow|Deny|Answer|Send|New |Start|Save|Revoke|Interrupt|Fork|Rewind|Apply|Archive|Delete|Change)/;

test("what does not exist, or not any more, is said plainly, with a way on", async () => {
  const gone = (await console.client.sessions.fork(ids.hostile, {})).id;
  await open(`/sessions/${gone}`);
  await page.getByRole("log").getByText(RIGHT_TO_LEFT).waitFor();
  await console.client.sessions.delete(gone);
  await page.getByRole("heading", { name: "Session deleted" }).waitFor();
  for (const path of ["/sessions/sesn_x", "/audit/sesn_x", "/agents/agent_x", "/tests/run_x", "/sessions/%2e%2e%2f"]) {
    await open(path);
    await page
      .locator("main")
      .getByText(/not found/)
      .first()
      .waitFor();
    await page.locator("main").getByRole("link").first().waitFor();
  }
  expect(console.complaints).toEqual([]);
});

test("a clock that is hours wrong makes nothing old, late or negative", async () => {
  for (const hours of [-5, 5]) {
    const tab = await console.context.newPage();
    await tab.addInitScript(`{
      const shift = ${hours * 3_600_000};
      const Real = Date;
      globalThis.Date = class extends Real {
        constructor(...given) {
          if (given.length === 0) super(Real.now() + shift);
          else super(...given);
        }
        static now() { return Real.now() + shift; }
      };
    }`);
    await open("/approvals", tab);
    await tab
      .getByText(/expires in 5\d min/)
      .first()
      .waitFor();
    await tab
      .getByText(/^asked (just now|\d min ago)/)
      .first()
      .waitFor();
    await open("/", tab);
    await expect
      .poll(() =>
        tab
          .getByRole("list", { name: "Sessions" })
          .getByText(/^(just now|\d min ago)$/)
          .count(),
      )
      .toBe(3);
    await tab.close();
  }
});

test("what is no answer of the server's, and what asks for patience, is told plainly", async () => {
  const busy = { type: "error", error: { type: "rate_limit_error", message: "Too many requests." }, request_id: "r" };
  const cases: readonly (readonly [path: string, at: string, Parameters<Route["fulfill"]>[0], says: RegExp])[] = [
    [
      "/",
      "**/api/sessions?**",
      { status: 502, body: "<h1>Bad Gateway</h1>" },
      /status 502 is not from a Capstan server/,
    ],
    ["/agents", "**/api/agents?**", { status: 429, headers: { "retry-after": "1" }, json: busy }, /again in 1 s/],
    ["/costs", "**/api/budgets", { status: 200, body: "<html>" }, /status 200 is not from a Capstan server/],
  ];
  // One after the other: the pages of a context share one clock.
  for (const [path, at, answer, says] of cases) {
    const tab = await console.context.newPage();
    await tab.clock.install();
    await tab.route(at, (route) => route.fulfill(answer));
    await open(path, tab);
    const told = tab.getByRole("alert").filter({ hasText: says });
    const again = told.getByRole("button", { name: "Try again" }).first();
    await again.waitFor();
    // The list retries by itself. On the other pages time stops, so that no retry comes before the click.
    if (path !== "/") await tab.clock.pauseAt(Date.now() + 60_000);
    await tab.unroute(at);
    if (path !== "/") await again.click();
    await tab.clock.resume();
    await told.first().waitFor({ state: "detached" });
    await tab.close();
  }
  expect(console.complaints).toEqual([]);
  expect(foreign).toEqual([]);
});
