import type { WorkspaceSettings } from "../../core/environment/environment.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import type { HostAddresses } from "../../core/ports/workspace.ts";
import { ALLOWED_PROTOCOLS, cloneAddress } from "./clone-address.ts";
import { git, type GitOptions } from "../git.ts";
import { absolute, guardReason, type HostDirectories, isAllowed, realDirectory } from "../host-paths.ts";
import { commitOf, contentNotes, findRepository, QUIET, withoutFilters } from "../repository.ts";
import { type Checkout, checkoutNotes, subdirectory } from "./worktree-workspace.ts";

type CloneSettings = Extract<WorkspaceSettings, { kind: "clone" }>;

/** A validated request for a clone. */
export interface CloneRequest {
  /** A directory, or a URL without a secret. */
  readonly origin: string;
  /** The workspace's directory on the host, or the URL. */
  readonly source: string;
  readonly isLocal: boolean;
  /** From the root of the repository to the directory the session works in. */
  readonly prefix: string;
  /** The original URL, if it contains a password. */
  readonly credentialed: string | undefined;
  readonly secrets: readonly string[];
  readonly branch: string;
  readonly ref: string | undefined;
  readonly depth: number | undefined;
}

interface CloneQuestion {
  readonly sessionId: string;
  /** Links resolved. */
  readonly source: string;
  readonly settings: CloneSettings;
  readonly places: HostDirectories;
  readonly signal?: AbortSignal | undefined;
}

/** Throws `workspace_invalid` for what cannot be cloned. Makes no network requests. */
export async function cloneRequest(question: CloneQuestion): Promise<CloneRequest> {
  const { sessionId, source, settings } = question;
  const { from, ref, depth } = settings;
  if (ref?.startsWith("-") === true)
    throw invalid('environment.workspace.ref begins with "-". Name a branch, a tag or a commit.');
  const common = { branch: `capstan/${sessionId}`, ref, depth, credentialed: undefined, secrets: [], prefix: "" };
  if (from === undefined) {
    const repository = await findRepository(source, question.places.home, question.signal);
    if (repository === undefined)
      throw invalid(
        `${source} is not in a git repository. Name one in environment.workspace.from, or use the kind copy.`,
      );
    return { ...common, origin: repository.top, source, isLocal: true, prefix: repository.prefix };
  }
  const address = cloneAddress(from);
  if (address.kind === "path") {
    const path = await localRepository(address.path, question);
    return { ...common, origin: path, source: path, isLocal: true };
  }
  const { url, credentialed, secrets } = address;
  await git(["--version"], { signal: question.signal });
  return { ...common, origin: url, source: url, isLocal: false, credentialed, secrets };
}

async function localRepository(written: string, { source, places, signal }: CloneQuestion): Promise<string> {
  const path = await realDirectory(absolute(written, source, places.home));
  const reason = await guardReason(path, places);
  if (reason !== undefined) throw invalid(`${path} cannot be cloned: ${reason}. Name another repository.`);
  if (!(await isAllowed(path, source, places)))
    throw invalid(`${path} is neither in ${source} nor in an allowed root. Add it to the allowed mount roots.`);
  const repository = await findRepository(path, places.home, signal).catch((error: unknown) => {
    throw invalid(`${path} cannot be cloned: ${messageOf(error)}`, error);
  });
  if (repository?.top !== path)
    throw invalid(`${path} is not the root of a git repository. Name one in environment.workspace.from.`);
  // The checkout may be a worktree of another repository.
  const args = [...repository.options, "rev-parse", "--path-format=absolute", "--git-common-dir"];
  const { stdout } = await git(args, { cwd: path, signal });
  const store = await realDirectory(stdout.toString().replace(/\n$/, ""));
  if (!(await isAllowed(store, source, places)))
    throw invalid(
      `The history of ${path} is in ${store}, outside the allowed roots. Add it to the allowed mount roots.`,
    );
  return path;
}

interface CloneDirectories {
  readonly files: string;
  readonly home: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly hostAddresses?: HostAddresses | undefined;
}

/** Creates the clone in `files`, on its own branch. */
export async function makeClone(
  request: CloneRequest,
  { files, home, signal, hostAddresses = {} }: CloneDirectories,
): Promise<Checkout & { readonly base: string }> {
  try {
    const configured = home !== undefined;
    const options = { configured, environment: environmentFor(request, { home, hostAddresses }), signal } as const;
    await git([...QUIET, ...cloneArguments(request, files)], options);
    const base = await startingCommit(request, files, options);
    const checkout = ["checkout", "--quiet", "--no-track", "-b", request.branch, base];
    await git([...QUIET, ...checkout], { ...options, cwd: files });
    const notes = await contentNotes({ top: files, options: QUIET }, base, signal);
    const left = request.isLocal && request.ref === undefined ? await sourceNotes(request.origin, signal) : [];
    return { cwd: await subdirectory(files, request.prefix), notes: [...left, ...notes], base };
  } catch (error) {
    throw explainFailure(request, error);
  }
}

async function sourceNotes(top: string, signal: AbortSignal | undefined): Promise<string[]> {
  const { options } = await withoutFilters(QUIET, { cwd: top, signal });
  return checkoutNotes({ top, options }, signal);
}

function cloneArguments({ origin, isLocal, ref, depth }: CloneRequest, files: string): string[] {
  const args = ["clone", "--quiet", "--no-checkout", "--no-recurse-submodules", "--origin", "origin"];
  // Ignore the user's templates, so that no hooks are installed.
  args.push("--template=");
  if (depth !== undefined) args.push("--depth", String(depth));
  if (depth !== undefined && ref !== undefined && !isCommitName(ref)) args.push("--branch", ref);
  // A push would change the user's repository.
  if (isLocal) args.push("-c", "remote.origin.pushurl=pushing-to-the-host-is-off");
  // Clone as if from another machine: copied files could refer to objects elsewhere on this one.
  if (isLocal) args.push("--no-local");
  return [...args, "--", origin, files];
}

async function startingCommit(
  { ref, depth, origin }: CloneRequest,
  files: string,
  options: GitOptions,
): Promise<string> {
  const clone = { top: files, options: QUIET };
  const find = async (revisions: readonly string[]): Promise<string | undefined> => {
    for (const revision of revisions) {
      const commit = await commitOf(clone, revision, options.signal);
      if (commit !== undefined) return commit;
    }
    return undefined;
  };
  if (ref === undefined) {
    const head = await find(["HEAD"]);
    if (head === undefined) throw invalid(`The repository ${origin} has no commit yet. Commit something first.`);
    return head;
  }
  const names = [`refs/remotes/origin/${ref}`, `refs/tags/${ref}`, ...(/^[\da-f]{4,}$/.test(ref) ? [ref] : [])];
  const known = await find(names);
  if (known !== undefined) return known;
  if (isCommitName(ref)) {
    const shallow = depth === undefined ? [] : ["--depth", String(depth)];
    await git([...QUIET, "fetch", "--quiet", ...shallow, "origin", ref], { ...options, cwd: files, accept: [1, 128] });
  }
  const fetched = isCommitName(ref) ? await find([ref]) : undefined;
  if (fetched === undefined)
    throw invalid(
      `environment.workspace.ref: ${origin} has no branch, tag or commit ${JSON.stringify(ref)}. Name an existing one.`,
    );
  return fetched;
}

function isCommitName(ref: string): boolean {
  return /^(?:[\da-f]{40}|[\da-f]{64})$/.test(ref);
}

/** Without the user there is no ssh key. */
const WITHOUT_USER = "https:file";

/** Variables that git needs to act for the user. */
const OF_THE_USER = [
  "XDG_CONFIG_HOME",
  "SSH_AUTH_SOCK",
  "DBUS_SESSION_BUS_ADDRESS",
  "GIT_SSH",
  "GIT_SSH_COMMAND",
] as const;
/** Variables that git needs to reach a server. */
const PASSED_ON = [
  "GIT_SSL_CAINFO",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "HTTPS_PROXY",
  "https_proxy",
  "ALL_PROXY",
  "all_proxy",
  "NO_PROXY",
  "no_proxy",
] as const;

function environmentFor(
  { origin, credentialed }: CloneRequest,
  { home, hostAddresses }: { readonly home: string | undefined; readonly hostAddresses: HostAddresses },
): Record<string, string> {
  const names = home === undefined ? PASSED_ON : [...OF_THE_USER, ...PASSED_ON];
  const passed = names.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const settings = [
    // Keeps the password out of the arguments, which other users can see, and out of the clone's configuration.
    ...(credentialed === undefined ? [] : [[`url.${credentialed}.insteadOf`, origin] as const]),
    // Only this URL was checked, not where it redirects to.
    ["http.followRedirects", "false"] as const,
    // The name may resolve differently when git looks it up. Git before 2.37 ignores this option.
    ...Object.entries(hostAddresses).map(
      ([host, found]) => ["http.curloptResolve", `${host}:${found.join()}`] as const,
    ),
  ];
  return {
    ...Object.fromEntries(passed),
    ...(home !== undefined && { HOME: home }),
    GIT_ALLOW_PROTOCOL: home === undefined ? WITHOUT_USER : ALLOWED_PROTOCOLS,
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}

/** Git's message may contain the URL with its password. */
function explainFailure({ secrets, origin, ref }: CloneRequest, thrown: unknown): unknown {
  if (!(thrown instanceof CapstanError)) return thrown;
  if (/Remote branch .* not found/.test(thrown.message))
    return invalid(
      `environment.workspace.ref: ${origin} has no branch or tag ${JSON.stringify(ref)}. Name an existing one.`,
    );
  // Git does not report the redirect's target; usually only the ending is missing.
  const isShort = /returned error: 30\d/.test(thrown.message) && !/\.git$|[?#]/.test(origin);
  const advice = isShort ? ` The current URL may be ${origin.replace(/\/+$/, "")}.git.` : "";
  if (secrets.length === 0 && advice === "") return thrown;
  // Longer ones first: one may be part of another.
  const ordered = secrets.toSorted((a, b) => b.length - a.length);
  const message = ordered.reduce((text, secret) => text.replaceAll(secret, "***"), thrown.message);
  return new CapstanError(thrown.code, `${message}${advice}`);
}

function invalid(message: string, cause?: unknown): CapstanError {
  return new CapstanError("workspace_invalid", message, { cause });
}
