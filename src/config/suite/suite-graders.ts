import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import {
  type Grader,
  type GraderKind,
  GRADER_KINDS,
  type JsonCheck,
  TURN_GRADERS,
} from "../../core/suite/grader-schema.ts";
import type { GraderAsWritten } from "../../core/suite/suite-schema.ts";
import type { Problem } from "../yaml/problems.ts";

type Path = Problem["path"];
type Note = (field: Path, text: string) => void;

export interface GraderSurroundings {
  /** The suite's file: files of graders are next to it. */
  readonly file: string;
  readonly hasJudge: boolean;
  /** The turns that it may check: how many, and whose they are. */
  readonly turns: { readonly count: number; readonly whose: string };
  readonly note: Note;
}

/** The graders of a list. A grader with a problem is reported and left out. */
export function gradersOf(
  list: readonly GraderAsWritten[],
  path: Path,
  { note, ...surroundings }: GraderSurroundings,
): readonly Grader[] {
  return list.flatMap((one, index) => {
    const at: Note = (field, text) => note([...path, index, ...field], text);
    return graderOf(one, { ...surroundings, note: at }) ?? [];
  });
}

function graderOf(written: GraderAsWritten, { file, hasJudge, turns, note }: GraderSurroundings): Grader | undefined {
  const { name, turn } = written;
  const kinds = (Object.keys(written) as (keyof GraderAsWritten)[]).filter(isKind);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    note(
      [],
      `expected one grader (found ${kinds.length === 0 ? "none" : kinds.join(" and ")}); known graders: ${GRADER_KINDS.join(", ")}`,
    );
    return undefined;
  }
  if (turn !== undefined && !(TURN_GRADERS as readonly GraderKind[]).includes(kind))
    note([], `${kind} checks the whole trial, so it has no turn`);
  else if (turn !== undefined && turn > turns.count)
    note(["turn"], `expected a turn up to ${turns.count}, the last that ${turns.whose} (found ${turn})`);
  const grader = { kind, given: written[kind], name, turn } as Grader;
  if (isJudged(grader) && grader.given.judge === undefined && !hasJudge)
    note([], "expected the model that judges: judge here, or judge: { model: … } for the suite; there is no default");
  if (grader.kind === "json" || grader.kind === "output") checkExistence(grader.given, [grader.kind], note);
  for (const [field, named] of filesOf(grader)) {
    const found = resolve(dirname(file), named);
    if (statSync(found, { throwIfNoEntry: false })?.isFile() !== true)
      note(field, `expected a file (not found: ${found})`);
  }
  return grader;
}

/** Reports contradictory checks. */
function checkExistence(given: JsonCheck | object, path: Path, note: Note): void {
  const { exists, equals, matches } = given as JsonCheck;
  const values = Object.entries({ equals, matches }).flatMap(([key, value]) => (value === undefined ? [] : [key]));
  if (exists === false && values.length > 0)
    note(
      [...path, "exists"],
      `a value that must not exist cannot be checked; remove exists, or ${values.join(" and ")}`,
    );
}

/** The files next to the suite that a grader names, and where. */
function filesOf({ kind, given }: Grader): readonly (readonly [field: Path, file: string])[] {
  if (kind === "code") return [[[kind, "module"], given.module]];
  if (kind === "json_schema") return typeof given === "string" ? [[[kind], given]] : [];
  if (kind === "output")
    return "schema" in given && typeof given.schema === "string" ? [[[kind, "schema"], given.schema]] : [];
  if (kind === "files") return Object.entries(given.same_as ?? {}).map(([to, one]) => [[kind, "same_as", to], one]);
  return [];
}

function isKind(key: keyof GraderAsWritten): key is GraderKind {
  return key !== "name" && key !== "turn";
}

type Judged = Extract<Grader, { readonly kind: "rubric" | "faithfulness" | "relevance" }>;

function isJudged(grader: Grader): grader is Judged {
  const kinds: readonly GraderKind[] = ["rubric", "faithfulness", "relevance"];
  return kinds.includes(grader.kind);
}
