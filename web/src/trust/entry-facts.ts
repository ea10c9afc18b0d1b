import type { WireTrust } from "../../../src/client/index.ts";
import { escapeHidden } from "../../../src/words/hidden-text.ts";

/** `narrow` widens nothing, so it applies in full and needs no decision. */
export type TrustState = "new" | "changed" | "gone" | "trusted" | "narrow";

export function trustStateOf({ trusted, diff, widens, missing }: WireTrust): TrustState {
  if (missing) return "gone";
  if (trusted) return "trusted";
  if (diff !== null) return "changed";
  return widens.length > 0 ? "new" : "narrow";
}

/** Whether trust in this content is on record. `capstan serve --trust` records none. */
export function isRecorded({ trusted, hash, trusted_hash: recorded }: WireTrust): boolean {
  return trusted && hash === recorded;
}

/** What such a file consists of. */
const PARTS: Readonly<Record<WireTrust["kind"], string>> = {
  settings: "settings",
  variables: "variables",
  agent: "fields",
  suite: "fields",
};

/** A line that is gone from a file, as a patch has it; three dashes name the file. */
const REMOVED = /^-(?!-- )/m;

/** What the file does now, and what waits for an admin. */
export function effectOf(entry: WireTrust): string {
  const { kind, widens, diff } = entry;
  const these = `These ${PARTS[kind]}`;
  const state = trustStateOf(entry);
  switch (state) {
    case "narrow":
      return "It gives agents no more room than they have without it, so all of it applies.";
    case "trusted": {
      const how = isRecorded(entry) ? [] : ["Trusted until this server stops, because it was started with --trust."];
      return [...how, ...(widens.length > 0 ? [`${these} give agents more room:`] : [])].join(" ");
    }
    case "gone":
      return "The file is gone. Restrictions that it had stay in force until an admin revokes the trust in it.";
    case "new":
    case "changed": {
      const content = state === "new" ? "this content" : "the new content";
      return [
        ...(widens.length > 0 ? [`${these} have no effect until an admin trusts ${content}.`] : []),
        ...(kind === "settings" && REMOVED.test(diff ?? "")
          ? ["Restrictions that were removed stay in force until an admin trusts the change."]
          : []),
        ...(widens.some(({ required }) => required) ? ["No session starts before that."] : []),
      ].join(" ");
    }
  }
}

/** One field that a file would widen, split into the parts that the page sets apart. */
export interface ShownWidening {
  readonly field: string;
  readonly value: string;
  readonly meaning: string;
}

const BEFORE_MEANING = " — ";

/** The file chooses the value, so the meaning is what follows the last dash: a value cannot replace it. */
export function shownWidening({ field, text }: WireTrust["widens"][number]): ShownWidening {
  const rest = text.startsWith(`${field}: `) ? text.slice(field.length + 2) : text;
  const end = rest.lastIndexOf(BEFORE_MEANING);
  return {
    field: escapeHidden(field),
    value: escapeHidden(end < 0 ? rest : rest.slice(0, end)),
    meaning: end < 0 ? "" : rest.slice(end + BEFORE_MEANING.length),
  };
}

/** Relative to the project where the file is inside it. */
export function shownPath({ path }: Pick<WireTrust, "path">, project: string): string {
  return escapeHidden(path.startsWith(`${project}/`) ? path.slice(project.length + 1) : path);
}

/** For people who are about to start a session; undefined when every setting has its effect. */
export function hintOf(entries: readonly WireTrust[]): string | undefined {
  const withheld = entries.filter(({ trusted, widens }) => !trusted && widens.length > 0);
  if (withheld.length === 0) return undefined;
  const isOne = withheld.length === 1;
  const files = `${withheld.length} project ${isOne ? "file is" : "files are"} not trusted`;
  return withheld.some(({ widens }) => widens.some(({ required }) => required))
    ? `${files}, so sessions cannot start.`
    : `${files}, so some of ${isOne ? "its" : "their"} settings have no effect.`;
}
