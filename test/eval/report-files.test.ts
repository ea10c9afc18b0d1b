import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { suiteRun } from "../../src/core/suite/suite-run.ts";
import { REPORTS, wantedReports, writeReports } from "../../src/eval/reports/reports.ts";
import { temporaryDirectory } from "../support/host.ts";
import { sampleRun } from "../support/suite-run.ts";

test("reports go where they are wanted", () => {
  expect(wantedReports(Object.keys(REPORTS)).map(({ path }) => path)).toEqual([
    "capstan-report/junit.xml",
    "capstan-report/report.json",
    "capstan-report/report.md",
    "capstan-report/report.html",
  ]);
  expect(wantedReports(["html=out/a=b.html"])).toEqual([{ name: "html", path: "out/a=b.html" }]);
});

test.each([
  [["pdf"], /--report: Unknown report "pdf"\. Use one of: junit, json, md, html\./],
  [["toString"], /Unknown report "toString"/],
  [[""], /Unknown report ""/],
  [["html="], /html= names no file\. Write html=FILE, or only html\./],
  [["html=a/../x", "json=x"], /two reports would be written to x\./],
  [["json", "json"], /two reports would be written to capstan-report\/report\.json/],
])("%j is refused", (words, message) => {
  expect(() => wantedReports(words)).toThrow(
    expect.objectContaining({ code: "invalid_input", message: expect.stringMatching(message) }),
  );
});

test("directories are made, and one that is named gets the report's usual file", async () => {
  using directory = temporaryDirectory();
  const at = (...parts: string[]): string => join(directory.path, ...parts);
  mkdirSync(at("there"));
  const wanted = wantedReports([
    `junit=${at("a/b/x.xml")}`,
    `json=${at("there")}`,
    `html=${at("new")}/`,
    `md=${at("new")}/`,
  ]);
  const { run, written, problems } = await writeReports(sampleRun(), wanted);
  expect(written).toEqual([at("a/b/x.xml"), at("there/report.json"), at("new/report.html"), at("new/report.md")]);
  expect(problems).toEqual([]);
  expect(run).toEqual(sampleRun());
  expect(suiteRun.parse(JSON.parse(readFileSync(at("there/report.json"), "utf8")))).toEqual(sampleRun());
});

test("one that cannot be written is a problem of the run, which the others tell", async () => {
  using directory = temporaryDirectory();
  const at = (...parts: string[]): string => join(directory.path, ...parts);
  writeFileSync(at("file"), "");
  const bad = at("file/report.html");
  const wanted = wantedReports([`html=${bad}`, `json=${at("report.json")}`, `junit=${at("junit.xml")}`]);
  const { run, written, problems } = await writeReports(sampleRun({ problems: ["an older one"] }), wanted);
  expect(problems).toEqual([expect.stringContaining(`The html report could not be written to ${bad}: ENOTDIR`)]);
  expect(problems[0]).toContain("Use another path: --report html=FILE");
  expect(run).toMatchObject({ exitCode: 2, problems: ["an older one", ...problems] });
  expect(written).toEqual([at("report.json"), at("junit.xml")]);
  expect(readdirSync(directory.path).toSorted()).toEqual(["file", "junit.xml", "report.json"]);
  expect(JSON.parse(readFileSync(at("report.json"), "utf8"))).toEqual(run);
  expect(readFileSync(at("junit.xml"), "utf8")).toContain("The html report could not be written");
});

test("one below a directory that cannot be made is told, and not tried for ever", async () => {
  const wanted = wantedReports(["html=/proc/x/y/z.html"]);
  const { run, written } = await writeReports(sampleRun(), wanted);
  expect(written).toEqual([]);
  expect(run).toMatchObject({ exitCode: 2, problems: [expect.stringContaining("written to /proc/x/y/z.html: E")] });
});
