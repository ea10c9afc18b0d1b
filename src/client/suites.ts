import type { List } from "../protocol/api/common.ts";
import type { SuiteRunSearch, WireSuite, WireSuiteRun, WireSuiteRunSummary } from "../protocol/api/suites.ts";
import { type Http, path } from "./http.ts";

/** Test results of agents. */
export class SuitesClient {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** The suites that have runs, by name, each with its last run. */
  async list(): Promise<WireSuite[]> {
    return (await this.#http.json<List<WireSuite>>("GET", "/api/suites")).data;
  }

  /** Newest first. */
  async runs(query: SuiteRunSearch = {}): Promise<WireSuiteRunSummary[]> {
    return (await this.#http.json<List<WireSuiteRunSummary>>("GET", "/api/suites/runs", { query })).data;
  }

  /** The complete run, as `capstan test --report json` writes it. */
  run(id: string): Promise<WireSuiteRun> {
    return this.#http.json("GET", path`/api/suites/runs/${id}`);
  }

  /** Returns the report as an HTML page. */
  async report(id: string): Promise<string> {
    return (await this.#http.send("GET", path`/api/suites/runs/${id}/report.html`)).text();
  }

  /** Deletes a run, including its transcripts. */
  async delete(id: string): Promise<void> {
    await this.#http.json("DELETE", path`/api/suites/runs/${id}`);
  }
}
