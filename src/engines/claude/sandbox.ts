import type { Options } from "@anthropic-ai/claude-agent-sdk";
import { isWhollyHidden, type SandboxPlan } from "../../core/environment/sandbox.ts";
import { PUBLIC_NAMES, SECRET_NAMES } from "../../core/environment/secret-files.ts";

type SdkSettings = Exclude<NonNullable<Options["settings"]>, string>;

/** Variables of the CLI process. With them, a command could call the model or talk to the CLI. */
const OF_THE_CLI = ["ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_MESSAGING_TOKEN"];

/**
 * Converts the plan to CLI settings. Defaults are written out too, so that a new CLI version with other defaults
 * changes nothing. `confined` says whether the machine has a sandbox; `readable` are directories of the process that
 * commands may read in addition to the plan.
 */
export function sandboxSettings(
  plan: SandboxPlan | undefined,
  { confined, readable }: { confined: boolean; readable: readonly string[] },
): Pick<SdkSettings, "sandbox" | "permissions"> {
  if (plan === undefined) return { sandbox: { enabled: false } };
  return { sandbox: confined ? commandSandbox(plan, readable) : { enabled: false }, permissions: fileRules(plan) };
}

function commandSandbox(plan: SandboxPlan, readable: readonly string[]): NonNullable<SdkSettings["sandbox"]> {
  return {
    enabled: true,
    // The sandbox was available a moment ago. If it no longer is, nothing may run.
    failIfUnavailable: true,
    // The host decides permission and knows about the sandbox.
    autoAllowBashIfSandboxed: false,
    allowUnsandboxedCommands: false,
    excludedCommands: [...plan.excludedCommands],
    ignoreViolations: {},
    enableWeakerNestedSandbox: false,
    enableWeakerNetworkIsolation: false,
    allowNestedUserNamespaces: false,
    allowAppleEvents: false,
    network: {
      allowedDomains: [...plan.domains],
      deniedDomains: [],
      // Otherwise the CLI would prompt without asking the host.
      strictAllowlist: true,
      allowUnixSockets: [...plan.unixSockets],
      allowAllUnixSockets: false,
      allowLocalBinding: false,
      allowMachLookup: [],
    },
    filesystem: {
      disabled: false,
      allowWrite: [...plan.allowWrite],
      // While a command runs, the CLI covers paths that do not exist, so that they can't be created.
      denyWrite: [...plan.denyWrite, ...plan.configuration],
      // The CLI resolves these names before each command, so that files created in the meantime are hidden too.
      denyRead: [...plan.denyRead, ...anywhereIn(plan, SECRET_NAMES)],
      // The CLI makes a subdirectory of the temporary directory writable for commands, and points TMPDIR to it.
      allowRead: [...plan.allowRead, ...readable, ...anywhereIn(plan, PUBLIC_NAMES)],
    },
    credentials: {
      files: [],
      envVars: [...new Set([...OF_THE_CLI, ...plan.hiddenVariables])].map((name) => ({ name, mode: "deny" })),
      allowPlaintextInject: false,
    },
  };
}

function anywhereIn({ secretRoots }: SandboxPlan, names: readonly string[]): string[] {
  return secretRoots.flatMap((root) => names.map((name) => `${root}/**/${name}`));
}

/**
 * The same limits for tools that run inside the CLI process. The host has decided each call before; these limits apply
 * when a link changes in between, and keep searches out of hidden files.
 */
function fileRules(plan: SandboxPlan): NonNullable<SdkSettings["permissions"]> {
  return {
    deny: [
      // A rule can't have exceptions, so paths that need some are left to the host.
      ...rules(
        "Read",
        plan.denyRead.filter((path) => isWhollyHidden(path, plan)),
      ),
      ...rules("Edit", [...plan.denyWrite, ...plan.configuration]),
    ],
    ...(plan.mode !== "off" && {
      blockWritesOutsideWorkingDirectories: true,
      additionalDirectories: plan.allowWrite.filter((path) => path !== plan.workspace),
    }),
  };
}

/** For each path and everything below it. */
function rules(tool: string, paths: readonly string[]): string[] {
  return paths.map(pattern).flatMap((path) => [`${tool}(${path})`, `${tool}(${path}/**)`]);
}

/** Two slashes start an absolute path; special characters are escaped. */
function pattern(path: string): string {
  return `/${path.replaceAll(/[\\*?[\]{}!#]/g, String.raw`\$&`)}`;
}
