import { dirname, resolve } from "node:path";
import type { SuiteAsWritten } from "../../core/suite/suite-schema.ts";
import { CapstanError } from "../../core/errors.ts";
import type { Configuration, Trusting } from "../load.ts";
import { SUITE_RULES } from "./fields.ts";
import { type JudgedItem, outside, type ReadFile, type TrustContext, TrustGate } from "./trust-gate.ts";
import { judgeValues } from "./judge.ts";
import { filesOfCommands, withLoaded } from "../../process/program-files.ts";
import { wideningText } from "./words.ts";

/** Throws `untrusted` for an untrusted suite that allows calls, sets variables or runs code. */
export function requireTrustedSuite(
  { path, value, files }: ReadFile<SuiteAsWritten>,
  trusting: Trusting,
  around: TrustContext,
): readonly JudgedItem[] {
  const gate = new TrustGate(trusting, around);
  const root = gate.rootOf(path);
  const from = dirname(path);
  const at = (file: string): string => resolve(from, file);
  const all = [value.defaults ?? {}, ...value.cases];
  const graders = all.flatMap((one) => one.graders ?? []);
  const modules = graders.flatMap(({ code }) => (code === undefined ? [] : [at(code.module)]));
  const commands = graders.flatMap(({ command }) => (command === undefined ? [] : [linesOf(command)]));
  const place = { from: [from], within: [root, from] };
  const fixtures = all.flatMap(({ fixture }) => (fixture === undefined ? [] : [at(fixture)]));
  const widens = [
    ...judgeValues(value, {}, SUITE_RULES).widens,
    ...outside(fixtures, place.within).map((one) => ({ ...one, field: "fixture" })),
  ];
  const programs = withLoaded([...modules, ...filesOfCommands(commands, place)], place);
  gate.admits({ kind: "suite", root, path, files: new Map([...files, ...programs]), widens });
  gate.requireTrust();
  return gate.judged;
}

/** Without its untrusted parts, the agent would not be the one that the suite is for. */
export function requireWholeAgent({ trust }: Configuration): void {
  const agent = trust.find(({ item, isTrusted }) => item.kind === "agent" && !isTrusted && item.widens.length > 0);
  if (agent === undefined) return;
  const { path, hash, widens } = agent.item;
  const problems = widens.map(wideningText);
  throw new CapstanError(
    "untrusted",
    `${path} is not trusted, so its tests would run a different agent than the file describes:\n  ${problems.join("\n  ")}\nReview it, then run: capstan trust ${path}. In CI, add --trust.`,
    { data: { file: path, hash, problems } },
  );
}

/** A command in any form that a grader accepts. */
function linesOf(command: unknown): readonly string[] {
  if (typeof command === "string") return [command];
  if (Array.isArray(command)) return command.map(String);
  return typeof command === "object" && command !== null ? Object.values(command).flatMap(linesOf) : [];
}
