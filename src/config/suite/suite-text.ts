import { parseDocument, stringify } from "yaml";
import type { CaseAsWritten } from "../../core/suite/suite-schema.ts";

/** The text of a suite with one more case; everything else stays as written. */
export function withCase(text: string, added: CaseAsWritten): string {
  const document = parseDocument(text);
  document.addIn(["cases"], document.createNode(added));
  return document.toString({ lineWidth: 0 });
}

/** The text of a new suite. */
export function suiteText(agent: string, first: CaseAsWritten): string {
  return stringify({ agent, cases: [first] }, { lineWidth: 0 });
}
