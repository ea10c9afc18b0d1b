import { readFileSync } from "node:fs";
import { once } from "node:events";
import { type Cli, type CliOptions, collect } from "../cli.ts";
import { until } from "../until.ts";

/** `capstan serve` as a process of its own. */
export interface ServedChild extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** In bytes: the memory that it has now. */
  residentBytes(): number;
  isRunning(): boolean;
}

export async function serveChild(cli: Cli, options: CliOptions = {}): Promise<ServedChild> {
  const child = cli.start(["serve", "--port", "0", "--json"], options);
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const said = await until(
    () => stdout.text,
    (text) => text.includes("\n") || child.exitCode !== null,
  );
  if (child.exitCode !== null) throw new Error(`The server ended: ${stderr.text}`);
  const { url } = JSON.parse(said) as { url: string };
  return {
    url,
    port: Number(new URL(url).port),
    residentBytes() {
      const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8")) ?? [];
      return Number(kilobytes) * 1_024;
    },
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

/** A key of the server that this CLI starts. */
export async function keyOf(cli: Cli, role: "viewer" | "operator" | "admin"): Promise<string> {
  const { stdout } = await cli.run(["keys", "create", "--role", role, "--json"]);
  return (JSON.parse(stdout) as { key: string }).key;
}
