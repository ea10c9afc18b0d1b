import type { SandboxSettings } from "./environment.ts";
import { CapstanError } from "../errors.ts";
import { isInside } from "../paths/inside.ts";
import { secretVariables } from "../redaction/redaction.ts";
import { isSecretName } from "./secret-files.ts";

/**
 * What a session is kept from, with every path absolute: one plan for the commands, the file tools and the MCP servers.
 * Where paths are nested, the longest that matches counts, and of two equal ones the exception.
 */
export interface SandboxPlan {
  /** With `off` commands are not confined; `denyRead` and `denyWrite` hold for file tools all the same. */
  readonly mode: SandboxSettings["mode"];
  /** Commands in the sandbox need no other permission. */
  readonly autoAllow: boolean;
  readonly workspace: string;
  /** Domains that may be reached: `example.com`, or `*.example.com` for all below it. */
  readonly domains: readonly string[];
  readonly denyRead: readonly string[];
  /** Exceptions within `denyRead`. */
  readonly allowRead: readonly string[];
  /** The workspace under its names: files in it that hold a secret by their names are hidden. */
  readonly secretRoots: readonly string[];
  /** Files of the workspace that are shown although their names say that they hold a secret. */
  readonly shownSecrets: readonly string[];
  /** Those of `denyRead` in which an engine keeps files of the session's own, so that no rule can speak of all in it. */
  readonly partlyHidden: readonly string[];
  /** Never written, whatever `allowWrite` says. */
  readonly denyWrite: readonly string[];
  /** What is read as configuration, there or not: read-only like `denyWrite`, when commands are confined. */
  readonly configuration: readonly string[];
  /** Where git keeps what belongs to the workspace: within it, or in the repository that it is a worktree of. */
  readonly gitDirectories: readonly string[];
  /** All that may be written; the workspace is one of them. */
  readonly allowWrite: readonly string[];
  /** Variables that commands do not see. */
  readonly hiddenVariables: readonly string[];
  /** Commands that run outside the sandbox, in the syntax of rules for Bash. */
  readonly excludedCommands: readonly string[];
  readonly unixSockets: readonly string[];
}

export interface SandboxPlaces {
  /** The root of the workspace. */
  readonly cwd: string;
  /** What relative paths are relative to: the directory the session was started in. */
  readonly source: string;
  /** The home of the person; `~`. */
  readonly home: string;
  /** Capstan's own directory: the store, the audit key, other sessions and their checkpoints. */
  readonly capstanHome: string;
  /** The session's own directory. Its `home` is what the agent's commands have as HOME. */
  readonly stateDir: string;
  /** Where the machine keeps temporary files, those of other sessions too. */
  readonly temporary: string;
  /** Where it keeps those of everybody, when that is another place. */
  readonly sharedTemporary?: string;
  /** Files of the host that are secret wherever they lie, such as the audit key. */
  readonly secretFiles: readonly string[];
  readonly readOnlyMounts: readonly string[];
  /** As in the plan. */
  readonly configuration?: readonly string[];
  readonly gitDirectories?: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** Where the links of an absolute path lead. */
  readonly real: (path: string) => string;
}

/** Where people keep credentials, below their home. */
export const CREDENTIAL_PATHS = [
  ".claude",
  ".claude.json",
  ".ssh",
  ".aws",
  ".gnupg",
  ".azure",
  ".config/gcloud",
  ".config/gh",
  ".config/git/credentials",
  ".config/op",
  ".netrc",
  ".npmrc",
  ".pypirc",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".pgpass",
  ".docker",
  ".kube",
  ".terraform.d",
  ".vault-token",
  ".git-credentials",
] as const;

export function sandboxPlan(settings: SandboxSettings, places: SandboxPlaces): SandboxPlan {
  const { cwd, home, capstanHome, stateDir, readOnlyMounts, secretFiles, variables } = places;
  const isConfined = settings.mode !== "off";
  const given = (paths: readonly string[]): string[] => paths.map((path) => absolutePath(path, places));
  // Under the name it was given, and where that leads: both must be known to whoever compares paths.
  const both = (paths: readonly string[]): string[] => [...new Set(paths.flatMap((path) => [path, places.real(path)]))];
  const workspace = absolutePath(cwd, places);
  const credentials = CREDENTIAL_PATHS.map((path) => `${withoutSlash(home)}/${path}`);
  const shared = [capstanHome, places.temporary, places.sharedTemporary ?? places.temporary];
  const hidden = isConfined ? [...shared, ...secretFiles, ...credentials] : [];
  const gitDirectories = isConfined ? given(places.gitDirectories ?? []) : [];
  // Of a repository that is not the agent's own it needs no more than to read: its work is exported to a branch.
  const others = gitDirectories.filter((path) => !both([workspace]).some((own) => isInside(path, own)));
  return {
    mode: settings.mode,
    autoAllow: settings.auto_allow_sandboxed,
    workspace,
    domains: settings.network.allow.map(domain),
    denyRead: both([...given(hidden), ...given(settings.deny_read)]),
    allowRead: both([...(isConfined ? [workspace, `${stateDir}/home`] : []), ...given(settings.allow_read)]),
    secretRoots: both([workspace]),
    shownSecrets: both(given(settings.allow_read)),
    partlyHidden: isConfined ? both(given(shared)) : [],
    denyWrite: both([...given(settings.deny_write), ...given(readOnlyMounts), ...others]),
    configuration: isConfined ? both(given(places.configuration ?? [])) : [],
    gitDirectories,
    allowWrite: both([workspace, ...given(settings.allow_write)]),
    hiddenVariables: [
      ...new Set([...settings.hide_variables, ...secretVariables(variables).map(({ name }) => name)]),
    ].toSorted(),
    excludedCommands: settings.excluded_commands.map(commandPattern),
    unixSockets: given(settings.unix_sockets),
  };
}

/** A program alone stands for all uses of it. */
function commandPattern(text: string): string {
  return /[\s*]/.test(text) ? text : `${text}:*`;
}

const DOMAIN = /^(?:\*\.)?(?:[a-z0-9_-]+\.)*[a-z0-9_-]+$/;

function domain(text: string): string {
  const name = text.toLowerCase().replace(/\.$/, "");
  // `*.com` would be half of the net; the engine refuses all of its settings when it finds such a name.
  if (DOMAIN.test(name) && !/^\*\.[^.]+$/.test(name)) return name;
  throw new CapstanError(
    "invalid_input",
    `environment.sandbox.network.allow: ${JSON.stringify(text)} is no domain. Write example.com, or *.example.com for all below it, without a scheme or a port.`,
  );
}

/** By the letters of the path alone: `.` and `..` are taken out, links are not looked at. */
export function absolutePath(path: string, { source, home }: Pick<SandboxPlaces, "source" | "home">): string {
  const written = path.replace(/^~(?=\/|$)/, () => home);
  const names: string[] = [];
  for (const name of (written.startsWith("/") ? written : `${source}/${written}`).split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return `/${names.join("/")}`;
}

function withoutSlash(path: string): string {
  return path.replace(/\/+$/, "");
}

/** Reading there is denied; an exception that lies deeper counts. */
export function isHidden(path: string, { denyRead, allowRead }: Pick<SandboxPlan, "denyRead" | "allowRead">): boolean {
  return longest(path, denyRead) > longest(path, allowRead);
}

/**
 * A file of the workspace whose name says that it holds a secret. An exception must name the file itself: a directory
 * that may be read says nothing of what else is in it.
 */
export function isSecret(
  path: string,
  { secretRoots, shownSecrets }: Pick<SandboxPlan, "secretRoots" | "shownSecrets">,
): boolean {
  return isSecretName(path) && secretRoots.some((root) => isInside(path, root)) && !shownSecrets.includes(path);
}

/** A confined session may not read it: it lies where reading is denied, or holds a secret of the project. */
export function isKeptFrom(path: string, plan: SandboxPlan): boolean {
  return isHidden(path, plan) || (plan.mode !== "off" && isSecret(path, plan));
}

/** Reading there is denied, and nothing below is an exception: whoever searches above can leave it out. */
export function isWhollyHidden(
  path: string,
  { allowRead, partlyHidden }: Pick<SandboxPlan, "allowRead" | "partlyHidden">,
): boolean {
  return ![...allowRead, ...partlyHidden].some((open) => isInside(open, path));
}

export function isWritable(
  path: string,
  { allowWrite, denyWrite }: Pick<SandboxPlan, "allowWrite" | "denyWrite">,
): boolean {
  return longest(path, allowWrite) > 0 && longest(path, denyWrite) === 0;
}

function longest(path: string, directories: readonly string[]): number {
  return Math.max(0, ...directories.filter((directory) => isInside(path, directory)).map(({ length }) => length));
}
