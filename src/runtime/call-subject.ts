import { dirname, join } from "node:path";
import type { CallSubject, Place, Redirection, ShellSubject } from "../core/permission/subject.ts";
import { readCommands, type ShellReading, type ShellWord } from "../core/shell/read-commands.ts";
import { FILE_FIELDS, fileInput, SEARCH_TOOLS } from "./paths/file-input.ts";
import { Names, type Surroundings } from "./paths/names.ts";
import { guardCall, guardedPlaces } from "./protected/guard-call.ts";
import type { SessionParts } from "./session-deps.ts";

export interface CalledTool {
  /** The tool's name as rules have it. */
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The tool is the engine's own and not the host's or a server's, whose input may mean anything. Default: true. */
  readonly engineTool?: boolean;
}

/** Where any other tool names a path, if it does; rules for paths do not speak of such tools. */
const USUAL_FIELDS = ["file_path", "path", "notebook_path"];

type Called = Pick<CalledTool, "tool" | "input">;
type Session = Pick<SessionParts, "record" | "home" | "tools">;

/** What a call of a session is about. */
export function sessionSubject(
  { tool, input }: Called,
  session: Session & Pick<SessionParts, "capstanHome">,
): CallSubject {
  const { record, home, capstanHome } = session;
  const { cwd, agent } = record;
  const call = { tool, input, engineTool: isEngineTool({ tool, input }, session) };
  return guardCall(subjectOf(call, { cwd, home }), call, guardedPlaces({ cwd, agent, capstanHome }));
}

/** What a call of a session is to run with: paths of file tools are written out. */
export function sessionInput<T extends Called>(call: T, session: Session): T {
  const { record, home } = session;
  if (!isEngineTool(call, session)) return call;
  const { input } = fileInput(call.tool, call.input, { cwd: record.cwd, home });
  return { ...call, input };
}

function isEngineTool({ tool }: Called, { tools }: Session): boolean {
  return !tools.some(({ name }) => name === tool);
}

/** What a tool call is about. Looks at the file system, so that a decision on what it returns need not. */
export function subjectOf(call: CalledTool, surroundings: Surroundings): CallSubject {
  const { tool, engineTool = true } = call;
  const names = new Names(surroundings);
  const none = { tool, paths: [], inside: true, workspace: names.workspace, home: names.home } satisfies CallSubject;
  const { input, refused } = engineTool ? fileInput(tool, call.input, surroundings) : { input: call.input };
  if (refused !== undefined) return { ...none, refused, inside: false };
  const text = (field: string): string | undefined => (typeof input[field] === "string" ? input[field] : undefined);
  if (!engineTool) return other();
  const [field, access] = FILE_FIELDS[tool] ?? [];
  if (field !== undefined && access !== undefined) {
    const places = names.places(text(field));
    const inside = places.length > 0 && names.areInside(places);
    return { ...none, paths: places.map((place) => ({ ...place, access })), inside };
  }
  if (SEARCH_TOOLS.includes(tool)) {
    const places = names.places(text("path") ?? ".");
    const paths = places.map((place) => ({ ...place, access: "read" as const }));
    return { ...none, paths, search: true, inside: names.areInside(places) };
  }
  if (tool === "Bash") {
    const command = text("command");
    if (command === undefined) return { ...none, inside: false };
    const shell = shellSubject(command, names);
    const places = [...shell.writes, ...shell.reads].flatMap((redirection) => redirection.places);
    const isKnown =
      shell.unclear.length === 0 && [...shell.writes, ...shell.reads].every((one) => one.places.length > 0);
    return { ...none, shell, inside: isKnown && names.areInside([...places, ...shell.mentions]) };
  }
  if (tool === "WebFetch") {
    const domain = URL.parse(text("url") ?? "")
      ?.hostname.toLowerCase()
      .replace(/\.$/, "");
    return { ...none, ...(domain && { domain }) };
  }
  if (tool === "Agent") {
    const subagent = text("subagent_type");
    return { ...none, ...(subagent !== undefined && { subagent }) };
  }
  if (tool === "Skill") {
    const skill = text("skill");
    return { ...none, ...(skill !== undefined && { skill: skillName(skill) }) };
  }
  return other();

  function other(): CallSubject {
    const [, server = "", name = ""] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? [];
    const places = USUAL_FIELDS.flatMap((usual) => names.places(text(usual)));
    return { ...none, inside: names.areInside(places), ...(server !== "" && { mcp: { server, tool: name } }) };
  }
}

/** An engine may put something before a skill's name, such as where it comes from: `agent:greeting`. */
function skillName(written: string): string {
  return written
    .trim()
    .toLowerCase()
    .replace(/^.*[:/]/s, "");
}

/** So many directories may one command be in; with more nobody can say where it writes. */
const MAX_BASES = 16;
/** So many paths of a command are looked at; a decision must not hold up the host. */
const MAX_LOOKED = 1_000;

function shellSubject(command: string, names: Names): ShellSubject {
  const reading = readCommands(command);
  const { commands, writes, reads, unclear } = reading;
  const directories = basesOf(
    commands.map(({ words }) => words),
    names,
  );
  const relative = [...writes.map(({ path }) => path), ...reads].some(({ text }) => !/^[/~]/.test(text));
  const located = ({ text, dynamic }: ShellWord): Redirection => ({
    text,
    places: dynamic ? [] : distinct(directories.bases.flatMap((base) => names.places(text, base))),
  });
  const { mentions, isCut } = mentionsIn(reading, directories.bases, names);
  return {
    commands: commands.map(({ words, assignments, via, effects }) => ({
      words: words.map(({ text, dynamic }) => ({ text, dynamic })),
      assignments: [...assignments],
      via: [...via],
      ...(effects.length > 0 && { effects: [...effects] }),
    })),
    writes: writes.map(({ path }) => located(path)),
    reads: reads.map(located),
    mentions,
    ...(isCut && { more_mentions: true }),
    unclear: [
      ...unclear,
      ...(relative && !directories.areKnown ? ["It changes its directory, and then names files relative to it."] : []),
    ],
  };
}

/** The paths among the words of commands; not all of them when they are too many to be looked at. */
function mentionsIn(
  { commands, loops }: Pick<ShellReading, "commands" | "loops">,
  bases: readonly string[],
  names: Names,
): { mentions: Place[]; isCut: boolean } {
  // The program is a path only when it is written as one.
  const words = commands.flatMap((command) => command.words.filter(({ text }, at) => at > 0 || text.includes("/")));
  const texts = [...new Set([...words, ...loops].flatMap((word) => pathsIn(word, names.home)))];
  const looked = texts.slice(0, Math.ceil(MAX_LOOKED / bases.length));
  const found = looked.flatMap((text) =>
    bases.filter((base) => looksLikePath(text) || names.exists(text, base)).flatMap((base) => names.places(text, base)),
  );
  return { mentions: distinct(found), isCut: looked.length < texts.length };
}

/** Every directory the command may be in, as far as its `cd`s tell. */
function basesOf(commands: readonly (readonly ShellWord[])[], names: Names): { bases: string[]; areKnown: boolean } {
  let bases = [names.workspace];
  let areKnown = true;
  for (const [program, ...words] of commands) {
    if (program === undefined || !["cd", "pushd", "popd"].includes(program.text)) continue;
    const [target] = words;
    const isPlain =
      program.text === "cd" && words.length === 1 && target?.dynamic === false && !/^[-+]/.test(target.text);
    if (!isPlain) areKnown = false;
    const texts = words.length === 0 ? ["~"] : words.flatMap((word) => pathsIn(word, names.home).slice(0, 1));
    const further = texts.flatMap((text) => bases.flatMap((base) => names.places(text, base)));
    bases = [...new Set([...bases, ...further.map(({ real }) => real)])];
    if (bases.length > MAX_BASES) return { bases: bases.slice(0, MAX_BASES), areKnown: false };
  }
  return { bases, areKnown };
}

/**
 * What of a word could be a path: all of it, what follows `=` or `@` or a short option, and what looks like one between
 * such marks, as in `-F f=@.env`, `HEAD:src/a.ts` or `-v /a:/b`. Of a word with wildcards, the part before them.
 */
function pathsIn({ text, dynamic }: ShellWord, home: string): string[] {
  const known = dynamic ? (/^[^$`*?[{"'\\]*(?:\/|$)/.exec(withPlaces(text, home))?.[0] ?? "") : text;
  const whole = known.replace(/^file:\/\/(?:localhost)?(?=\/)/i, "");
  const attached = /^-[A-Za-z]([^-].*)$/s.exec(whole)?.[1] ?? "";
  const pieces = isAddress(whole) ? [] : (attached || whole).split(/[=:;,@<]/);
  return [
    whole,
    attached,
    /=(.+)$/s.exec(whole)?.[1] ?? "",
    /^@(.+)$/s.exec(whole)?.[1] ?? "",
    ...pieces.filter((piece) => piece.length < whole.length && /^(?!\/\/)\S+$/.test(piece) && looksLikePath(piece)),
  ].filter((part) => part !== "");
}

/** Variables and tildes that every shell has, in the place of which something known can stand. */
function withPlaces(text: string, home: string): string {
  const bare = /^"[^"]*"$/.test(text) ? text.slice(1, -1) : text;
  return bare
    .replace(/^"?\$\{?HOME\}?"?(?=\/|$)/, "~")
    .replace(/^(?:"?\$\{?PWD\}?"?|~\+)(?=\/|$)/, ".")
    .replace(/^~([\w.-]+)(?=\/|$)/, (_, user: string) => (user === "root" ? "/root" : join(dirname(home), user)));
}

/** A name with an ending may be that of a file which is not there yet. */
const WITH_ENDING = /^[\w@%+-][\w@%+.-]*\.[A-Za-z]\w{0,9}$/;

function looksLikePath(text: string): boolean {
  return (/^[.~]|\//.test(text) && !isAddress(text)) || WITH_ENDING.test(text);
}

function isAddress(text: string): boolean {
  return /^\w+:\/\//.test(text);
}

function distinct(places: readonly Place[]): Place[] {
  return [...new Map(places.map((place) => [`${place.named}\0${place.real}`, place])).values()];
}
