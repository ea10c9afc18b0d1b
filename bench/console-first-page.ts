import { interleave } from "./interleave.ts";
import { type ConsoleBench, timeUntil } from "./console-browser.ts";
import { countRow, ratioRow, type Row } from "./row.ts";

const ROUNDS = 15;
const FIELD = "input[aria-label='Search sessions']";
const LIST = "ul[aria-label='Sessions'] li:nth-child(10)";

/** How long it takes to open the console and see the list of sessions. */
export async function firstPage(name: string, bench: ConsoleBench): Promise<readonly Row[]> {
  const { url } = bench.server;
  await checkReacts(bench);
  const bytes = await scriptBytes(bench);
  const cold = (path: string, selector: string) => async (): Promise<number> => {
    await using window = await bench.open();
    return await timeUntil(window.page, `${url}${path}`, selector);
  };
  const warm = (path: string, selector: string) => async (): Promise<number> => {
    await using window = await bench.open();
    await window.page.goto(`${url}${path}`);
    await window.page.locator(selector).waitFor();
    return await timeUntil(window.page, `${url}${path}`, selector);
  };
  const times = await interleave(
    { rounds: ROUNDS, warmUp: 2 },
    {
      page: cold("/", `body:has(${FIELD}) ${LIST}`),
      empty: cold("/login", "input#key"),
      again: warm("/", `body:has(${FIELD}) ${LIST}`),
      emptyAgain: warm("/login", "input#key"),
    },
  );
  return [
    countRow({ name, what: "kB of JavaScript of the first page, as gzip sends it", count: bytes }, 250),
    ratioRow(
      {
        name,
        what: "time to interactive of the list of 20 sessions, nothing cached : the login page",
        measured: times.page,
        against: times.empty,
      },
      3,
    ),
    ratioRow(
      {
        name,
        what: "the same when it was opened before",
        measured: times.again,
        against: times.emptyAgain,
      },
      3,
    ),
  ];
}

const SCRIPT_BYTES = `performance
  .getEntriesByType("resource")
  .filter(({ name }) => name.endsWith(".js"))
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`;

/** Bodies of all scripts loaded until the page responds, in kB. */
async function scriptBytes(bench: ConsoleBench): Promise<number> {
  await using window = await bench.open();
  const { page } = window;
  await timeUntil(page, `${bench.server.url}/`, `body:has(${FIELD}) ${LIST}`);
  const bytes = await page.evaluate<number>(SCRIPT_BYTES);
  if (bytes === 0) throw new Error("The page loaded no script, which cannot be.");
  return Math.ceil(bytes / 1_000);
}

/** Checks that the page really responds: typing changes the list. */
async function checkReacts(bench: ConsoleBench): Promise<void> {
  await using window = await bench.open();
  const { page } = window;
  await timeUntil(page, `${bench.server.url}/`, `body:has(${FIELD}) ${LIST}`);
  await page.locator(FIELD).fill("nothing is called this");
  await page.getByText("No matching sessions").waitFor();
}
