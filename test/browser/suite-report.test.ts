import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as fc from "fast-check";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { htmlReport } from "../../src/eval/reports/html.ts";
import { junitReport } from "../../src/eval/reports/junit.ts";
import { openBrowser } from "../support/browser.ts";
import { temporaryDirectory } from "../support/host.ts";
import { richRun, withTexts } from "../support/suite-run.ts";

let browser: Browser & AsyncDisposable;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser[Symbol.asyncDispose]());

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());

/** The report as a file, in a browser that has no network; what the page asks for and complains of. */
async function openReport(
  run: Parameters<typeof htmlReport>[0],
  look: Parameters<Browser["newContext"]>[0] = {},
): Promise<{ readonly page: Page; readonly asked: string[]; readonly said: string[] }> {
  const file = join(directory.path, "report.html");
  writeFileSync(file, htmlReport(run));
  const context = await browser.newContext({ offline: true, ...look });
  const page = await context.newPage();
  const asked: string[] = [];
  const said: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("console", (message) => said.push(message.text()));
  page.on("dialog", (dialog) => said.push(dialog.message()));
  await page.goto(pathToFileURL(file).href);
  return { page, asked, said };
}

test("the report opens offline, loads nothing else, and its style applies", async () => {
  const { page, asked, said } = await openReport(richRun());
  expect(asked).toHaveLength(1);
  expect(said).toEqual([]);
  expect(await page.evaluate("getComputedStyle(document.querySelector('.tile')).borderRadius")).toBe("10px");
  await page.getByRole("heading", { name: "Failed: not everything could be run" }).waitFor();
});

test("what an agent said runs nothing and loads nothing", async () => {
  const text = `</pre></script><script>alert(1)</script><img src="http://127.0.0.1:9/x" onerror="alert(2)"><style>*{display:none}</style>`;
  const { page, asked, said } = await openReport(withTexts(richRun(), text));
  expect(asked).toHaveLength(1);
  expect(said).toEqual([]);
  expect(await page.locator("script, img, main style").count()).toBe(0);
  expect(await page.locator("main h2").nth(1).textContent()).toBe(text);
});

test.each(["light", "dark"] as const)("in %s it can be read, and is as wide as a telephone", async (colorScheme) => {
  const long = withTexts(richRun(), "W".repeat(300));
  for (const run of [richRun(), long]) {
    const { page } = await openReport(run, { colorScheme, viewport: { width: 360, height: 740 } });
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    const colours = await page.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(colours).toBe(colorScheme === "dark" ? "rgb(16, 20, 28)" : "rgb(246, 247, 249)");
  }
});

test("cases are opened and hidden by keyboard", async () => {
  const { page } = await openReport(richRun());
  const passed = page.locator("#case-1-1");
  await passed.locator("> summary").focus();
  await page.keyboard.press("Enter");
  expect(await passed.getAttribute("open")).not.toBeNull();
  await passed.getByText("I moved the total into its own function and ran the tests").waitFor();
  await page.getByLabel("Hide cases that passed").focus();
  await page.keyboard.press("Space");
  expect(await passed.isVisible()).toBe(false);
  expect(await page.locator("#case-1-2").isVisible()).toBe(true);
});

interface Parsed {
  readonly error: string;
  readonly tests: number;
  readonly name: string;
  readonly output: string;
}

/** For the page: a browser's own parser reads each document. */
const PARSE = `(sources) => sources.map((source) => {
  const parsed = new DOMParser().parseFromString(source, "application/xml");
  return {
    error: parsed.querySelector("parsererror")?.textContent ?? "",
    tests: parsed.querySelectorAll("testsuites > testsuite > testcase").length,
    name: parsed.querySelector("testcase")?.getAttribute("name") ?? "",
    output: parsed.querySelector("error[type=problem]")?.textContent ?? "",
  };
})`;

test("JUnit's XML is well-formed and says what it was given, whatever the text", async () => {
  const page = await browser.newPage();
  const run = richRun();
  const pieces = [
    "]]>",
    "<![CDATA[",
    "&",
    "&#0;",
    "<",
    '"',
    "'",
    "\0",
    "\u001B[1m",
    "\uD800",
    "\uDC00",
    "\uFFFF",
    "😀",
    "\r",
    "\t",
    "\n",
    "é",
    "<?x?>",
    "<!--",
    "--",
  ];
  const text = fc.oneof(
    fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 }).map((some) => some.join("")),
    fc.string({ unit: "binary", minLength: 1 }),
  );
  const texts = [...pieces, "a]]>b\tc\r\nd", ...fc.sample(text, 60)];
  const documents = texts.map((one) => junitReport(withTexts(run, one)));
  const found = await page.evaluate<readonly Parsed[]>(`(${PARSE})(${JSON.stringify(documents)})`);
  for (const [index, { error, tests, name, output }] of found.entries()) {
    const given = JSON.stringify(texts[index]);
    expect(error, given).toBe("");
    expect(tests, given).toBe(12);
    expect(name, given).toBe(output);
  }
  expect(found[pieces.length]?.name).toBe("a]]>b\tc\r\nd");
});
