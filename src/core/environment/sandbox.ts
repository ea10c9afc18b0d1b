import type { SandboxSettings } from "./environment.ts";
import { CapstanError } from "../errors.ts";
import { isInside } from "../paths/is-inside.ts";
import { secretVariables } from "../redaction/redaction.ts";
import { isSecretName } from "./secret-files.ts";

/**
 * How a session is confined, with absolute paths: one plan for commands, file tools and MCP servers. Of nested paths,
 * the longest match applies; of two equal ones, the exception.
 */
export interface SandboxPlan {
  /** With `off`, commands are not confined; `denyRead` and `denyWrite` still apply to file tools. */
  readonly mode: SandboxSettings["mode"];
  /** Commands in the sandbox need no permission. */
  readonly autoAllow: boolean;
  readonly workspace: string;
  /** Reachable domains: `example.com`, or `*.example.com` for everything below it. */
  readonly domains: readonly string[];
  readonly denyRead: readonly string[];
  /** Exceptions within `denyRead`. */
  readonly allowRead: readonly string[];
  /** All paths of the workspace. Files in it whose names indicate a secret are hidden. */
  readonly secretRoots: readonly string[];
  /** Files of the workspace that are shown although their names indicate a secret. */
  readonly shownSecrets: readonly string[];
  /**
   * Entries of `denyRead` in which an engine keeps files of this session, so that no rule can cover them as a whole.
   */
  readonly partlyHidden: readonly string[];
  /** Never writable, whatever `allowWrite` says. */
  readonly denyWrite: readonly string[];
  /**
   * Paths that are read as configuration, whether or not they exist: read-only like `denyWrite` when commands are
   * confined.
   */
  readonly configuration: readonly string[];
  /** The git directories of the workspace: inside it, or in the repository that it is a worktree of. */
  readonly gitDirectories: readonly string[];
  /** All writable paths, including the workspace. */
  readonly allowWrite: readonly string[];
  /** Variables hidden from commands. */
  readonly hiddenVariables: readonly string[];
  /** Commands that run outside the sandbox, in the syntax of Bash rules. */
  readonly excludedCommands: readonly string[];
  readonly unixSockets: readonly string[];
}

export interface SandboxDirectories {
  /** The root of the workspace. */
  readonly cwd: string;
  /** The base of relative paths: the directory the session was started in. */
  readonly source: string;
  /** The user's home; `~`. */
  readonly home: string;
  /** Capstan's own directory: the store, the audit key, other sessions and their checkpoints. */
  readonly capstanHome: string;
  /** The session's own directory. Its `home` is HOME for the agent's commands. */
  readonly stateDir: string;
  /** The machine's directory for temporary files, including those of other sessions. */
  readonly temporary: string;
  /** The shared temporary directory, if it is a different one. */
  readonly sharedTemporary?: string;
  /** Secret files of the host, wherever they are, such as the audit key. */
  readonly secretFiles: readonly string[];
  readonly readOnlyMounts: readonly string[];
  /** As in the plan. */
  readonly configuration?: readonly string[];
  readonly gitDirectories?: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** Resolves the links of an absolute path. */
  readonly real: (path: string) => string;
}

/** Where people keep credentials, relative to their home. */
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

export function sandboxPlan(settings: SandboxSettings, places: SandboxDirectories): SandboxPlan {
  const { cwd, home, capstanHome, stateDir, readOnlyMounts, secretFiles, variables } = places;
  const isConfined = settings.mode !== "off";
  const toAbsolute = (paths: readonly string[]): string[] => paths.map((path) => absolutePath(path, places));
  // The path as given and with links resolved: code that compares paths must know both.
  const both = (paths: readonly string[]): string[] => [...new Set(paths.flatMap((path) => [path, places.real(path)]))];
  const workspace = absolutePath(cwd, places);
  const credentials = CREDENTIAL_PATHS.map((path) => `${withoutSlash(home)}/${path}`);
  const shared = [capstanHome, places.temporary, places.sharedTemporary ?? places.temporary];
  const hidden = isConfined ? [...shared, ...secretFiles, ...credentials] : [];
  const gitDirectories = isConfined ? toAbsolute(places.gitDirectories ?? []) : [];
  // Another repository only needs to be readable: the agent's work is exported to a branch.
  const others = gitDirectories.filter((path) => !both([workspace]).some((own) => isInside(path, own)));
  return {
    mode: settings.mode,
    autoAllow: settings.auto_allow_sandboxed,
    workspace,
    domains: settings.network.allow.map(domain),
    denyRead: both([...toAbsolute(hidden), ...toAbsolute(settings.deny_read)]),
    allowRead: both([...(isConfined ? [workspace, `${stateDir}/home`] : []), ...toAbsolute(settings.allow_read)]),
    secretRoots: both([workspace]),
    shownSecrets: both(toAbsolute(settings.allow_read)),
    partlyHidden: isConfined ? both(toAbsolute(shared)) : [],
    denyWrite: both([...toAbsolute(settings.deny_write), ...toAbsolute(readOnlyMounts), ...others]),
    configuration: isConfined ? both(toAbsolute(places.configuration ?? [])) : [],
    gitDirectories,
    allowWrite: both([workspace, ...toAbsolute(settings.allow_write)]),
    hiddenVariables: [
      ...new Set([...settings.hide_variables, ...secretVariables(variables).map(({ name }) => name)]),
    ].toSorted(),
    excludedCommands: settings.excluded_commands.map(commandPattern),
    unixSockets: toAbsolute(settings.unix_sockets),
  };
}

/** A program name alone covers all uses of it. */
function commandPattern(text: string): string {
  return /[\s*]/.test(text) ? text : `${text}:*`;
}

const DOMAIN = /^(?:\*\.)?(?:[a-z0-9_-]+\.)*[a-z0-9_-]+$/;

function domain(text: string): string {
  const name = text.toLowerCase().replace(/\.$/, "");
  // `*.com` would be half of the internet; the engine rejects all of its settings for such a name.
  if (DOMAIN.test(name) && !/^\*\.[^.]+$/.test(name)) return name;
  throw new CapstanError(
    "invalid_input",
    `environment.sandbox.network.allow: ${JSON.stringify(text)} is not a domain. Write example.com, or *.example.com for its subdomains, without a scheme or a port.`,
  );
}

/** Purely textual: removes `.` and `..` and does not resolve links. */
export function absolutePath(path: string, { source, home }: Pick<SandboxDirectories, "source" | "home">): string {
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

/** Whether reading is denied; a more specific exception wins. */
export function isHidden(path: string, { denyRead, allowRead }: Pick<SandboxPlan, "denyRead" | "allowRead">): boolean {
  return longest(path, denyRead) > longest(path, allowRead);
}

/**
 * Whether a workspace file's name indicates a secret. An exception must name the file itself: that a directory is
 * readable says nothing about the files in it.
 */
export function isSecret(
  path: string,
  { secretRoots, shownSecrets }: Pick<SandboxPlan, "secretRoots" | "shownSecrets">,
): boolean {
  return isSecretName(path) && secretRoots.some((root) => isInside(path, root)) && !shownSecrets.includes(path);
}

/** Whether a confined session can't read it: reading is denied there, or it is a secret of the project. */
export function isKeptFrom(path: string, plan: SandboxPlan): boolean {
  return isHidden(path, plan) || (plan.mode !== "off" && isSecret(path, plan));
}

/** Whether reading is denied without any exception below, so that a search can skip it. */
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
