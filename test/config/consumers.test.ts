import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { settingsFile } from "../../src/config/settings/settings-schema.ts";
import { files } from "./files.ts";
import { loadTrusted } from "../support/trust.ts";

type Arrival = readonly [written: string, path: readonly string[], value: unknown];

/** What becomes of a workspace is told by test/config/environment-consumers.test.ts. */
const ENVIRONMENT: Readonly<Record<string, Arrival>> = Object.fromEntries(
  Object.entries({
    workspace: ["{ kind: worktree }", { kind: "worktree" }],
    "checkpoints.mode": ["required", "required"],
    "checkpoints.max_file_bytes": ["1", 1],
    "checkpoints.max_files": ["1", 1],
    "checkpoints.max_bytes": ["1", 1],
    "checkpoints.exclude": ["[dist/]", ["node_modules/", "dist/"]],
    "sandbox.mode": ["required", "required"],
    "sandbox.auto_allow_sandboxed": ["true", true],
    "sandbox.deny_read": ["[~/notes]", ["~/notes"]],
    "sandbox.allow_read": ["[~/notes]", ["~/notes"]],
    "sandbox.deny_write": ["[~/notes]", ["~/notes"]],
    "sandbox.allow_write": ["[~/notes]", ["~/notes"]],
    "sandbox.hide_variables": ["[PIN]", ["PIN"]],
    "sandbox.excluded_commands": ["[docker]", ["docker"]],
    "sandbox.unix_sockets": ["[/run/x.sock]", ["/run/x.sock"]],
    "sandbox.network.allow": ["[example.com]", ["example.com"]],
    "limits.memory_bytes": ["1", 1],
    "limits.processes": ["1", 1],
    "limits.cpu_seconds": ["1", 1],
    variables: ["{ LANG: C }", { LANG: "C" }],
  } as const satisfies Record<string, readonly [string, unknown]>).map(
    ([field, [written, value]]): [string, Arrival] => [
      `environment.${field}`,
      [written, ["sessionEnvironment", ...field.split(".")], value],
    ],
  ),
);

/** What becomes of them is told by test/config/server.test.ts. */
const SERVER: Readonly<Record<string, Arrival>> = Object.fromEntries(
  [
    ["capacity.max_turns", 1],
    ["capacity.max_queue", 1],
    ["capacity.max_idle_processes", 1],
    ["capacity.max_process_age_ms", 1],
    ["capacity.max_process_bytes", 1],
    ["capacity.min_free_bytes", 1],
    ["capacity.max_memory_bytes", 1],
    ["capacity.max_cpu_pressure", 1],
    ["capacity.max_memory_pressure", 1],
    ["capacity.max_loop_delay_ms", 1],
    ["max_body_bytes", 1],
    ["max_upload_bytes", 1],
    ["requests_per_minute", 1],
    ["open_metrics", true],
    ["allow_private_addresses", true],
  ].map(([field, value]): [string, Arrival] => [
    `server.${field}`,
    [String(value), ["settings", "server", ...String(field).split(".")], value],
  ]),
);

/** field → a value that is not the default, and where it must arrive. The agent's fields have a test of their own. */
const ARRIVES: Readonly<Record<string, Arrival>> = {
  engine: ["direct", ["settings", "engine"], "direct"],
  model: ["haiku", ["agent", "model"], "haiku"],
  on_crash: ["continue", ["settings", "on_crash"], "continue"],
  retries: ["1", ["settings", "retries"], 1],
  upstream_idle_ms: ["1", ["settings", "upstream_idle_ms"], 1],
  credential_wait_ms: ["1", ["settings", "credential_wait_ms"], 1],
  hibernate_after_ms: ["1", ["settings", "hibernate_after_ms"], 1],
  "permissions.mode": ["plan", ["agent", "permissions", "mode"], "plan"],
  "permissions.allow": ["[Bash]", ["agent", "permissions", "allow"], ["Bash"]],
  "permissions.ask": ["[Bash]", ["agent", "permissions", "ask"], ["Bash"]],
  "permissions.deny": ["[Bash]", ["agent", "permissions", "deny"], ["Bash"]],
  "permissions.approvals_expire_ms": ["300", ["agent", "permissions", "approvals_expire_ms"], 300],
  "budget.usd": ["1", ["agent", "budget", "usd"], 1],
  "budget.tokens": ["1", ["agent", "budget", "tokens"], 1],
  "budget.input_tokens": ["1", ["agent", "budget", "input_tokens"], 1],
  "budget.output_tokens": ["1", ["agent", "budget", "output_tokens"], 1],
  "budget.cache_tokens": ["1", ["agent", "budget", "cache_tokens"], 1],
  "budget.turns": ["1", ["agent", "budget", "turns"], 1],
  "budget.tool_calls": ["1", ["agent", "budget", "tool_calls"], 1],
  "budget.deadline_ms": ["1", ["agent", "budget", "deadline_ms"], 1],
  "budget.warn_at": ["1", ["agent", "budget", "warn_at"], 1],
  "budget.ask_at": ["1", ["agent", "budget", "ask_at"], 1],
  "budget.steps": ["1", ["agent", "budget", "steps"], 1],
  "budgets.project.usd": ["1", ["settings", "budgets", "project", "usd"], 1],
  "budgets.project.tokens": ["1", ["settings", "budgets", "project", "tokens"], 1],
  "budgets.project.input_tokens": ["1", ["settings", "budgets", "project", "input_tokens"], 1],
  "budgets.project.output_tokens": ["1", ["settings", "budgets", "project", "output_tokens"], 1],
  "budgets.project.cache_tokens": ["1", ["settings", "budgets", "project", "cache_tokens"], 1],
  "budgets.project.turns": ["1", ["settings", "budgets", "project", "turns"], 1],
  "budgets.project.tool_calls": ["1", ["settings", "budgets", "project", "tool_calls"], 1],
  "budgets.project.deadline_ms": ["1", ["settings", "budgets", "project", "deadline_ms"], 1],
  "budgets.project.warn_at": ["1", ["settings", "budgets", "project", "warn_at"], 1],
  "budgets.project.ask_at": ["1", ["settings", "budgets", "project", "ask_at"], 1],
  "budgets.day.usd": ["1", ["settings", "budgets", "day", "usd"], 1],
  "budgets.day.tokens": ["1", ["settings", "budgets", "day", "tokens"], 1],
  "budgets.day.input_tokens": ["1", ["settings", "budgets", "day", "input_tokens"], 1],
  "budgets.day.output_tokens": ["1", ["settings", "budgets", "day", "output_tokens"], 1],
  "budgets.day.cache_tokens": ["1", ["settings", "budgets", "day", "cache_tokens"], 1],
  "budgets.day.turns": ["1", ["settings", "budgets", "day", "turns"], 1],
  "budgets.day.tool_calls": ["1", ["settings", "budgets", "day", "tool_calls"], 1],
  "budgets.day.deadline_ms": ["1", ["settings", "budgets", "day", "deadline_ms"], 1],
  "budgets.day.warn_at": ["1", ["settings", "budgets", "day", "warn_at"], 1],
  "budgets.day.ask_at": ["1", ["settings", "budgets", "day", "ask_at"], 1],
  "budgets.day.time_zone": ["Europe/Berlin", ["settings", "budgets", "day", "time_zone"], "Europe/Berlin"],
  "budgets.agents": ["{ clerk: { usd: 1 } }", ["settings", "budgets", "agents"], { clerk: { usd: 1 } }],
  "budgets.reserve_output_tokens": ["1", ["settings", "budgets", "reserve_output_tokens"], 1],
  prices: ["{ tiny: { input: 1, output: 2 } }", ["settings", "prices"], { tiny: { input: 1, output: 2 } }],
  redact: [
    "[{ name: acme, pattern: 'ACME-\\d{4}' }]",
    ["settings", "redact"],
    [{ name: "acme", pattern: "ACME-\\d{4}" }],
  ],
  "auth.provider": ["bedrock", ["settings", "auth", "provider"], "bedrock"],
  // Each of them is for the provider that is named beside it.
  "auth.base_url": ["https://x, provider: auth_token", ["settings", "auth", "base_url"], "https://x"],
  "auth.credential_command": ["x, provider: api_key", ["settings", "auth", "credential_command"], "x"],
  ...ENVIRONMENT,
  mount_roots: ["[/srv/shared]", ["settings", "mount_roots"], ["/srv/shared"]],
  ...SERVER,
  hooks_outside_sandbox: ["true", ["settings", "hooks_outside_sandbox"], true],
  graders_outside_sandbox: ["true", ["settings", "graders_outside_sandbox"], true],
  projects_may_loosen: ["true", ["settings", "projects_may_loosen"], true],
};
/** A project's file must not have them: see variables.test.ts, environment.test.ts and server.test.ts. */
const OF_THE_USER = [
  "auth.base_url",
  "auth.credential_command",
  "mount_roots",
  "hooks_outside_sandbox",
  "graders_outside_sandbox",
  "projects_may_loosen",
  ...Object.keys(SERVER),
];

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

function fieldsOf({ properties }: JsonSchema, path: readonly string[] = []): string[] {
  if (properties === undefined) return [path.join(".")];
  return Object.entries(properties).flatMap(([key, schema]) => fieldsOf(schema, [...path, key]));
}

describe("every field of a settings file", () => {
  test("is known here", () => {
    expect(fieldsOf(z.toJSONSchema(settingsFile, { io: "input" }) as JsonSchema)).toEqual(Object.keys(ARRIVES));
  });

  test.each(Object.entries(ARRIVES))("%s arrives", async (field, [written, path, value]) => {
    const text = `${field.replaceAll(".", ": { ")}: ${written}${" }".repeat(field.split(".").length - 1)}\n`;
    for (const file of [".capstan/config.yaml", "app/.capstan/config.yaml"].slice(
      0,
      OF_THE_USER.includes(field) ? 1 : 2,
    )) {
      using tree = files({ "app/": "", [file]: text });
      const configuration = await loadTrusted({
        cwd: tree.at("app"),
        environment: { HOME: tree.path },
        flags: {},
      });
      expect(configuration, file).toHaveProperty([...path], value);
    }
  });

  const source = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.startsWith("config"))
    .map((file) => readFileSync(`src/${file}`, "utf8"))
    .join("\n");
  const settings = Object.values(ARRIVES).flatMap(([, [where, name = ""]]) => (where === "settings" ? [name] : []));
  // What it decides is decided in the configuration: see others.test.ts.
  test.each(settings.filter((name) => name !== "projects_may_loosen"))(
    "%s is used outside of the configuration",
    (name) => {
      expect(source.includes(`settings.${name}`)).toBe(true);
    },
  );
});
