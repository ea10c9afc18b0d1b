import type { Options } from "@anthropic-ai/claude-agent-sdk";
import { isWhollyHidden, type SandboxPlan } from "../../core/environment/sandbox.ts";
import { PUBLIC_NAMES, SECRET_NAMES } from "../../core/environment/secret-files.ts";

type SdkSettings = Exclude<NonNullable<Options["settings"]>, string>;

/** Of the CLI's own process: with them a command could ask the model, or speak to the CLI. */
const OF_THE_CLI = ["ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_MESSAGING_TOKEN"];

/**
 * The plan as the CLI's settings. Everything is written out, also what is the default, so that a new version of the CLI
 * with other defaults changes nothing. `confined` is whether the machine has a sandbox; `readable` are directories of the
 * process that commands may read beside what the plan says.
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
    // It was there a moment ago. Should it be gone, nothing may run.
    failIfUnavailable: true,
    // Permission is decided by the host, which knows of the sandbox.
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
      // The CLI would ask somebody otherwise, past the host.
      strictAllowlist: true,
      allowUnixSockets: [...plan.unixSockets],
      allowAllUnixSockets: false,
      allowLocalBinding: false,
      allowMachLookup: [],
    },
    filesystem: {
      disabled: false,
      allowWrite: [...plan.allowWrite],
      // What is not there is covered by the CLI while a command runs, so that it cannot be made.
      denyWrite: [...plan.denyWrite, ...plan.configuration],
      // The CLI looks for these names before each command, so that a file made meanwhile is hidden as well.
      denyRead: [...plan.denyRead, ...anywhereIn(plan, SECRET_NAMES)],
      // The CLI makes a directory in the temporary one writable for commands, and sets TMPDIR to that.
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
 * The same limits for the tools that run in the CLI's own process. The host has judged each call by then; these hold
 * when a link is changed in between, and keep searches out of what is hidden.
 */
function fileRules(plan: SandboxPlan): NonNullable<SdkSettings["permissions"]> {
  return {
    deny: [
      // A rule has no exceptions, so a place that has some is left to the host.
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

/** For each path, and all that is below it. */
function rules(tool: string, paths: readonly string[]): string[] {
  return paths.map(pattern).flatMap((path) => [`${tool}(${path})`, `${tool}(${path}/**)`]);
}

/** Two slashes are an absolute path; what is special in a pattern is meant as it stands. */
function pattern(path: string): string {
  return `/${path.replaceAll(/[\\*?[\]{}!#]/g, String.raw`\$&`)}`;
}
