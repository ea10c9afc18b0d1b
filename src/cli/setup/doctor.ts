import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { homeDirectory } from "../../config/project/home.ts";
import { DEFAULT_MODEL } from "../../config/settings/settings.ts";
import type { EnvironmentInput } from "../../core/environment/environment.ts";
import { type EngineName, ENGINES } from "../../core/agent/engine-name.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { color } from "../terminal/text.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  /** What to do about a problem. */
  readonly remedy?: string;
}

type Check = () => Promise<Omit<Finding, "check">> | Omit<Finding, "check">;

const MIN_NODE = [22, 19] as const;

const CHECKS: Readonly<Record<string, Check>> = {
  node: () => {
    const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
    const ok = major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1]);
    return { ok, detail: process.version, remedy: `Install Node ${MIN_NODE.join(".")} or newer.` };
  },
  platform: () => ({
    ok: process.platform !== "win32",
    detail: `${process.platform} ${process.arch}`,
    remedy: "Use Windows Subsystem for Linux.",
  }),
  ...Object.fromEntries(ENGINES.map((name): [string, Check] => [`engine ${name}`, () => checkEngine(name)])),
  containment: async () => {
    const { isContained } = await import("../../app/check/diagnose.ts");
    const contained = await isContained();
    return {
      ok: contained,
      detail: contained ? "agent processes end with this program" : "not available",
      remedy:
        "Install util-linux (setpriv, unshare) and allow user namespaces. Otherwise agents may keep running after Capstan is killed.",
    };
  },
  git: () => {
    const { stdout, error } = spawnSync("git", ["--version"], { encoding: "utf8" });
    return {
      ok: error === undefined,
      detail: stdout?.trim() || "not found",
      remedy: "Install git. Checkpoints (diff, rewind, export), worktrees and clones need it.",
    };
  },
  store: async () => {
    const { openStore } = await import("../../app/open-store.ts");
    const { path } = homeDirectory(process.env);
    await using store = await openStore(path);
    const { abandonedSessions } = await import("../../runtime/recovery/abandoned-sessions.ts");
    const { isGone } = await import("../../app/host/processes.ts");
    const gone = await abandonedSessions(store, isGone, Date.now());
    return {
      ok: gone.length === 0,
      detail:
        gone.length === 0
          ? path
          : `${path}; ${gone.length} ${gone.length === 1 ? "session needs" : "sessions need"} recovery`,
      remedy: "Run: capstan sessions recover",
    };
  },
  "audit key": async () => {
    const { keyState } = await import("../../app/audit/audit.ts");
    const { path, id, isLost } = keyState({ home: homeDirectory(process.env).path, environment: process.env });
    const state = id === undefined ? `none yet; ${path} is created at the first use` : `${id} in ${path}`;
    return {
      ok: !isLost,
      detail: isLost ? `${path} is missing, so nothing can be saved` : state,
      remedy: "Restore it from a backup, or see: capstan audit accept --help",
    };
  },
  trust: async () => {
    const { loadConfiguration } = await import("../../config/load.ts");
    const given = { cwd: process.cwd(), environment: process.env, flags: {} };
    const { trust } = await loadConfiguration({ ...given, isOnlyShown: true });
    const untrusted = trust.filter(({ item, isTrusted }) => !isTrusted && item.widens.length > 0);
    return {
      ok: untrusted.length === 0,
      detail:
        untrusted.length === 0
          ? "no untrusted files in this project"
          : untrusted
              .map(({ item }) => `${item.path}: ${[...new Set(item.widens.map(({ field }) => field))].join(", ")}`)
              .join("; "),
      remedy: "These settings have no effect. To review and trust them: capstan trust",
    };
  },
  credentials: async () => {
    const { loadConfiguration } = await import("../../config/load.ts");
    const { providerStatuses } = await import("../../app/credentials/credential-status.ts");
    const loaded = await loadConfiguration({ cwd: process.cwd(), environment: process.env, flags: {} });
    const statuses = await providerStatuses({ ...loaded, auth: loaded.settings.auth });
    const used = statuses.find(({ isDefault }) => isDefault);
    return {
      ok: used?.isComplete === true,
      detail:
        used === undefined
          ? "none found"
          : `${used.provider} is active: ${loaded.credentials.map(({ name, source }) => `${name} (${source})`).join(", ")}`,
      remedy: used === undefined ? "Run capstan auth login, or use --rehearsal." : "See: capstan auth status",
    };
  },
  rehearsal: async () => ({
    ok: await rehearse({}),
    detail: "an agent ran a command",
    remedy: 'See: capstan run --rehearsal --trace trace.log "run echo hi"',
  }),
  sandbox: async () => {
    try {
      return {
        ok: await rehearse({ sandbox: { mode: "required" } }),
        detail: "an agent ran a command in the sandbox",
        remedy: 'See: capstan run --rehearsal --sandbox required "run echo hi"',
      };
    } catch (thrown) {
      if (!(thrown instanceof CapstanError) || thrown.code !== "sandbox_missing") throw thrown;
      const why = String(thrown.data["missing"]);
      return { ok: false, detail: "not available", remedy: `${why} Until then, commands run unconfined.` };
    }
  },
};

/** Whether an engine works on this machine. */
async function checkEngine(name: EngineName): Promise<Omit<Finding, "check">> {
  const { describeEngine } = await import("../../app/check/diagnose.ts");
  try {
    return { ok: true, detail: await describeEngine(name, process.env["PATH"] ?? "") };
  } catch (thrown) {
    return { ok: false, detail: "not usable", remedy: messageOf(thrown) };
  }
}

/** Whether an agent with the scripted model can run a command in this environment. */
async function rehearse(environment: EnvironmentInput): Promise<boolean> {
  const { openHost } = await import("../../app/open-host.ts");
  const directory = mkdtempSync(join(tmpdir(), "capstan-doctor-"));
  const cwd = join(directory, "work");
  mkdirSync(cwd);
  try {
    const { loadConfiguration } = await import("../../config/load.ts");
    const given = { cwd: process.cwd(), environment: process.env, flags: {} };
    const { settings } = await loadConfiguration({ ...given, isOnlyShown: true });
    await using host = await openHost({
      home: join(directory, "home"),
      engine: settings.engine,
      rehearsal: true,
      environment: { PATH: process.env["PATH"] },
    });
    const agent = { name: "doctor", model: DEFAULT_MODEL, tools: ["Bash"], permissions: { allow: ["Bash"] } };
    const session = await host.startSession({ agent, cwd, environment });
    const { text } = await session.send("run echo capstan-works").result();
    return text.includes("capstan-works");
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Checks whose failure does not stop Capstan from working. */
const ADVICE = new Set([
  // A missing default engine fails the rehearsal check.
  ...ENGINES.map((name) => `engine ${name}`),
  "git",
  "trust",
  "credentials",
  "containment",
  "sandbox",
]);

export async function doctor(flags: { readonly json?: boolean }): Promise<number> {
  const findings: Finding[] = [];
  for (const [check, look] of Object.entries(CHECKS)) {
    const found = await Promise.resolve()
      .then(look)
      .catch((thrown: unknown) => ({ ok: false, detail: messageOf(thrown), remedy: "Fix this first." }));
    const finding: Finding = { check, ...found };
    findings.push(finding);
    if (flags.json !== true) process.stdout.write(`${line(finding)}\n`);
  }
  if (flags.json === true) process.stdout.write(findings.map((finding) => `${hiddenFreeJson(finding)}\n`).join(""));
  return findings.some(({ ok, check }) => !ok && !ADVICE.has(check)) ? 3 : 0;
}

function line({ check, ok, detail, remedy }: Finding): string {
  const mark = ok ? color.green("✓") : ADVICE.has(check) ? color.yellow("!") : color.red("✗");
  const advice = ok || remedy === undefined ? "" : `\n    ${color.dim("→")} ${remedy}`;
  return `${mark} ${check.padEnd(14)} ${detail}${advice}`;
}
