import { constants, createReadStream } from "node:fs";
import { mkdir, open, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { CapstanError } from "../core/errors.ts";
import type { GivenContent, HostAddresses } from "../core/ports/workspace.ts";
import { cloneRequest, makeClone } from "./kinds/clone-workspace.ts";
import { diskFailure } from "./disk-failure.ts";
import type { HostDirectories } from "./host-paths.ts";
import { removeTree } from "./remove-tree.ts";

interface Target {
  readonly sessionId: string;
  /** The root of the workspace. */
  readonly root: string;
  readonly places: HostDirectories;
  readonly signal?: AbortSignal | undefined;
  readonly hostAddresses?: HostAddresses | undefined;
}

/** Puts a file or a clone at a path that does not exist yet. The agent must not be working meanwhile. */
export async function putContent(content: GivenContent, target: Target): Promise<void> {
  const to = await freePath(target.root, content.at);
  if (content.kind === "file") return copyTo(content.path, to);
  const { sessionId, root, places, signal, hostAddresses } = target;
  const settings = { kind: "clone", from: withToken(content), ref: content.ref } as const;
  const request = await cloneRequest({ sessionId, source: root, settings, places, signal });
  try {
    // Without the user's configuration: the person who names a repository must not get the user's access.
    await makeClone(request, { files: to, home: undefined, signal, hostAddresses });
  } catch (error) {
    await removeTree(to);
    throw error;
  }
}

/** Creates the parent directories. Links that the agent created must not lead out of the workspace. */
async function freePath(root: string, at: string): Promise<string> {
  const to = join(root, at);
  const inside = relative(root, to);
  if (at === "" || isAbsolute(at) || inside === "" || inside === ".." || inside.startsWith(`..${sep}`))
    throw refusal(at, "is not a path inside the workspace");
  const real = await realpath(root);
  let above = real;
  for (const name of inside.split(sep).slice(0, -1)) {
    above = join(above, name);
    await mkdir(above, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw diskFailure(error, "Making", above);
    });
    if ((await realpath(above)) !== above) throw refusal(at, "leads through a link");
  }
  return join(above, inside.split(sep).at(-1) ?? "");
}

async function copyTo(from: string, to: string): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const into = await open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST") throw refusal(to.slice(dirname(to).length + 1), "already exists");
    throw diskFailure(error, "Writing", to);
  });
  try {
    await pipeline(createReadStream(from), into.createWriteStream());
  } catch (error) {
    await removeTree(to);
    throw diskFailure(error, "Writing", to);
  }
}

/** Repository hosts accept a token in place of a password. */
function withToken({ url, token }: Extract<GivenContent, { kind: "repository" }>): string {
  if (token === undefined) return url;
  const address = URL.parse(url);
  if (address?.protocol !== "https:")
    throw new CapstanError(
      "workspace_invalid",
      "A repository token is only sent over https. Use an https URL, or omit the token.",
    );
  address.username = "x-access-token";
  address.password = token;
  return address.href;
}

function refusal(at: string, why: string): CapstanError {
  return new CapstanError("workspace_invalid", `${JSON.stringify(at)} ${why}. Use another path.`, { data: { at } });
}
