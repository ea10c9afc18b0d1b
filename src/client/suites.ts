import type { List } from "../protocol/api/common.ts";
import type { SuiteRunSearch, WireSuite, WireSuiteRun, WireSuiteRunSummary } from "../protocol/api/suites.ts";
import { type Http, path } from "./http.ts";

/** What came of tests of agents. */
export class Suites {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Those that were run, by name, each with its last run. */
  async list(): Promise<WireSuite[]> {
    return (await this.#http.json<List<WireSuite>>("GET", "/api/suites")).data;
  }

  /** Newest first. */
  async runs(query: SuiteRunSearch = {}): Promise<WireSuiteRunSummary[]> {
    return (await this.#http.json<List<WireSuiteRunSummary>>("GET", "/api/suites/runs", { query })).data;
  }

  /** All of it, as `capstan test --report json` writes it. */
  run(id: string): Promise<WireSuiteRun> {
    return this.#http.json("GET", path`/api/suites/runs/${id}`);
  }

  /** The report as a page. */
  async report(id: string): Promise<string> {
    return (await this.#http.send("GET", path`/api/suites/runs/${id}/report.html`)).text();
  }

  /** A run, with all that was said in it. */
  async delete(id: string): Promise<void> {
    await this.#http.json("DELETE", path`/api/suites/runs/${id}`);
  }
}
