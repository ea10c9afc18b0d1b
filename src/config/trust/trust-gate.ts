import { dirname } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import { redactVariable } from "../../core/session/redaction-session.ts";
import type { AgentAsWritten } from "../agent/agent-file.ts";
import type { Environment } from "../project/home.ts";
import type { Merged } from "../settings/layers.ts";
import type { Trusting } from "../load.ts";
import type { Withheld } from "./no-widening.ts";
import { findProject } from "../project/project.ts";
import type { ReadSettings } from "../settings/settings.ts";
import type { SettingsFile } from "../settings/settings-schema.ts";
import { type Variables, withoutDotEnv } from "../variables/variables.ts";
import type { TrustedBefore } from "./trust-book.ts";
import { AGENT_RULES, SETTINGS_RULES } from "./fields.ts";
import { type Content, sha256Of, isUsersOwn, trustItemOf, liesInAny, type TrustItem } from "./trust-item.ts";
import { judgeValues, type Widening } from "./judge.ts";
import { programFiles } from "../../process/program-files.ts";
import { wideningText } from "./words.ts";

/** An item, and whether a person has trusted exactly this content. */
export interface JudgedItem {
  readonly item: TrustItem;
  readonly isTrusted: boolean;
}

export interface TrustContext {
  /** Capstan's home: files there are the user's own. */
  readonly home: string;
  /** Where the session works. */
  readonly cwd: string;
  readonly shell: Environment;
}

/** Lets trusted content through, and of everything else only what widens nothing. */
export class TrustGate {
  readonly judged: JudgedItem[] = [];
  /** The files of the agent's programs, as read: SHA-256 by absolute path. */
  programs: Readonly<Record<string, string>> = {};
  readonly #isTrusted: Trusting["isTrusted"];
  readonly #before: TrustedBefore | undefined;
  readonly #around: TrustContext;

  constructor({ isTrusted, before }: Omit<Trusting, "ask">, around: TrustContext) {
    this.#isTrusted = isTrusted;
    this.#before = before;
    this.#around = around;
  }

  settings({ path, values, files }: ReadSettings, root: string, below: Merged): SettingsFile {
    const { kept, widens } = judgeValues(values, withZone(below), SETTINGS_RULES);
    return this.#admits({ kind: "settings", root, path, files, widens }) ? values : kept;
  }

  variables(variables: Variables, root: string): Variables {
    const { dotEnv, files, environment } = variables;
    if (dotEnv === undefined || files.size === 0) return variables;
    const valueOf = (name: string): string => redactVariable(name, environment[name] ?? "");
    const widens = dotEnv.names.map((name): Widening => ({ field: name, value: valueOf(name), isRequired: false }));
    const renderVariables = (): string =>
      dotEnv.names.map((name) => `${name}=${valueOf(name)} (${fingerprint(environment[name])})\n`).join("");
    return this.#admits({ kind: "variables", root, path: dotEnv.path, files, widens, render: renderVariables })
      ? variables
      : withoutDotEnv(variables);
  }

  agent(read: ReadFile<AgentAsWritten>, below: Merged): AgentAsWritten {
    const { path, value: written } = read;
    const { cwd, home } = this.#around;
    const root = this.rootOf(path);
    const place = { from: [cwd, dirname(path)], within: [root, cwd, dirname(path)] };
    const programs = programFiles(written, place);
    this.programs = Object.fromEntries([...programs].map(([file, bytes]) => [file, sha256Of(bytes)]));
    const files = new Map([...read.files, ...programs]);
    const isOwn = (file: string): boolean => isUsersOwn(file, home);
    if ([...files.keys()].every(isOwn)) return written;
    const { kept, widens } = judgeValues(written, belowAgent(written, below), AGENT_RULES);
    const all = [
      ...widens,
      ...budgetEscape(written.name, below),
      ...outside(
        [...read.files.keys()].filter((file) => !isOwn(file)),
        place.within,
      ),
      ...this.#changeWidening({ kind: "agent", root, path }),
    ];
    return this.#admits({ kind: "agent", root, path, files, widens: all }) ? written : kept;
  }

  /** Any other content; the caller says what it widens. */
  admits(content: Content): boolean {
    if ([...content.files.keys()].every((file) => isUsersOwn(file, this.#around.home))) return true;
    return this.#admits(content);
  }

  /** The project of a file, or its own directory. */
  rootOf(path: string): string {
    return findProject(dirname(path), this.#around.shell).root ?? dirname(path);
  }

  /** Throws `untrusted` if something that requires trust is left. */
  requireTrust(): void {
    const missing = this.judged.filter(({ item, isTrusted }) => !isTrusted && item.widens.some(isNeeded));
    const [first] = missing;
    if (first === undefined) return;
    const problems = missing.flatMap(({ item }) =>
      item.widens.filter(isNeeded).map((one) => `${item.path}: ${wideningText(one)}`),
    );
    throw new CapstanError(
      "untrusted",
      `${first.item.path} is not trusted, but it runs programs or restricts the agent, so it cannot be left out:\n  ${problems.join("\n  ")}\nReview it, then run: capstan trust ${first.item.path}. In CI, add --trust.`,
      { data: { file: first.item.path, hash: first.item.hash, problems } },
    );
  }

  /** The values that have no effect because they are not trusted. */
  listWithheld(): readonly Withheld[] {
    return this.judged.flatMap(({ item, isTrusted }) =>
      isTrusted
        ? []
        : item.widens.map((widening) => ({ ...widening, source: item.path, reason: "untrusted" as const })),
    );
  }

  /** The content that a person reviewed may have had restrictions that are gone now. */
  #changeWidening(place: Pick<TrustItem, "kind" | "root" | "path">): readonly Widening[] {
    if (this.#before?.(place) === undefined) return [];
    return [{ field: "changed", value: "it has changed since you trusted it", isRequired: true }];
  }

  #admits(content: Content): boolean {
    const item = trustItemOf(content);
    const isTrusted = this.#isTrusted(item);
    this.judged.push({ item, isTrusted });
    return isTrusted;
  }
}

export interface ReadFile<Value> {
  readonly path: string;
  readonly value: Value;
  /** It and all files that it names, as read. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** The engine's defaults. */
const ENGINE_DEFAULTS = { effort: "high", thinking: "adaptive" } as const;

/** A daily budget uses UTC by default. */
function withZone(below: Merged): object {
  const { budgets } = below;
  return budgets.day === undefined
    ? below
    : { ...below, budgets: { ...budgets, day: { time_zone: "UTC", ...budgets.day } } };
}

/** Models are compared with the current one. */
function belowAgent({ subagents = {} }: AgentAsWritten, below: Merged): object {
  const { model, auth } = below;
  const models = Object.fromEntries(Object.keys(subagents).map((name) => [name, { model }]));
  return { ...below, ...ENGINE_DEFAULTS, auth: auth.provider, fallback_model: model, subagents: models };
}

/** Only the settings that restrict agents. */
export function narrowing(values: SettingsFile, below: Merged): SettingsFile {
  const { kept } = judgeValues(values, withZone(below), SETTINGS_RULES);
  // It restricts nothing, so only the current files decide.
  const { engine: _engine, ...rest } = kept;
  return rest;
}

function isNeeded({ isRequired }: Widening): boolean {
  return isRequired;
}

/** With another name, an agent would escape the budget that the settings set for its name. */
function budgetEscape(name: string, { budgets }: Merged): readonly Widening[] {
  const names = Object.keys(budgets.agents ?? {});
  return names.length === 0 || names.includes(name) ? [] : [{ field: "name", value: name, isRequired: true }];
}

/** An agent file may name any file, whose content the model then sees. */
export function outside(files: readonly string[], within: readonly string[]): readonly Widening[] {
  return files
    .filter((file) => !liesInAny(file, within))
    .map((file) => ({ field: "file", value: file, isRequired: true }));
}

/** Shows that a value changed without revealing it. */
function fingerprint(value: string | undefined): string {
  return sha256Of(value ?? "").slice(0, 8);
}
