import { join } from "node:path";
import { readOwnFile } from "../../process/own-files.ts";
import { namesIn, statsOf } from "./fingerprints.ts";

/**
 * Settings that name no program, file or further settings; includes everything that `git init` and `git clone` write.
 */
const HARMLESS: Readonly<Record<string, RegExp>> = {
  core: /^(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)$/,
  remote: /^(?:url|fetch)$/,
  branch: /^(?:remote|merge|rebase)$/,
  user: /^(?:name|email)$/,
  init: /^defaultbranch$/,
  extensions: /^objectformat$/,
};
const SECTION = /^\[([a-z]+)(?: "[^"\\]*")?\]$/i;
const SETTING = /^([a-z][a-z0-9-]*)\s*=\s*([^\\]*)$/i;

/**
 * Whether git can be used in a repository that an agent created without running the agent's programs. `directory` is a
 * `.git`. Anything not understood counts as harmful.
 */
export function isHarmlessRepository(directory: string): boolean {
  // A file or a link means that the repository is elsewhere.
  if (statsOf(directory)?.isDirectory() !== true) return false;
  const elsewhere = ["commondir", "gitdir", "modules", "worktrees"].map((name) => join(directory, name));
  if (elsewhere.some((path) => statsOf(path)?.isFile() === true || namesIn(path).length > 0)) return false;
  if (namesIn(join(directory, "hooks")).some((name) => !name.endsWith(".sample"))) return false;
  return isHarmlessConfig(join(directory, "config")) && isEmpty(join(directory, "config.worktree"));
}

function isHarmlessConfig(file: string): boolean {
  let section = "";
  return linesOf(file).every((line) => {
    const [, named] = SECTION.exec(line) ?? [];
    if (named !== undefined) {
      section = named.toLowerCase();
      return Object.hasOwn(HARMLESS, section);
    }
    const [, name = "", value = ""] = SETTING.exec(line) ?? [];
    const isAddress = section === "remote" && name.toLowerCase() === "url";
    // `ext::` and other helpers run a program. Git leaves quotes out wherever they stand.
    const address = value.replaceAll('"', "").trim();
    return HARMLESS[section]?.test(name.toLowerCase()) === true && !(isAddress && /^-|::/.test(address));
  });
}

function isEmpty(file: string): boolean {
  return linesOf(file).length === 0;
}

/** Returns lines without blanks and comments. A file that cannot be read counts as harmful. */
function linesOf(file: string): readonly string[] {
  try {
    return (readOwnFile(file) ?? "")
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "" && !/^[#;]/.test(line));
  } catch {
    return ["unreadable"];
  }
}
