import type { Approval } from "../../core/session/approval.ts";
import { CapstanError } from "../../core/errors.ts";
import { oneLine, shortId } from "./text.ts";

const SHORTEST = 4;

/** Finds the item with this id, or whose id starts or ends with it. */
export function resolveId<T extends { readonly id: string }>(
  all: readonly T[],
  given: string,
  { what, command }: { readonly what: string; readonly command: string },
): T {
  if (given.length < SHORTEST)
    throw new CapstanError(
      "invalid_input",
      `"${given}" is too short to identify ${what === "approval" ? "an" : "a"} ${what}. Enter at least ${SHORTEST} characters of its id.`,
    );
  const found = all.filter(({ id }) => id === given || id.endsWith(given) || id.startsWith(given));
  const [only, ...others] = found.some(({ id }) => id === given) ? found.filter(({ id }) => id === given) : found;
  if (only === undefined) throw new CapstanError("not_found", `No ${what} ${given} found. To list them: ${command}`);
  if (others.length > 0)
    throw new CapstanError(
      "invalid_input",
      `${given} matches ${found.length} ${what}s. Enter more characters of the id.`,
    );
  return only;
}

export const APPROVAL = { what: "approval", command: "capstan approvals list --all" };

/** Still pending in the store, but past its deadline. */
function isExpired({ status, expiresAt }: Approval, now = Date.now()): boolean {
  return status === "pending" && expiresAt !== null && expiresAt <= now;
}

export function isOpen(approval: Approval): boolean {
  return approval.status === "pending" && !isExpired(approval);
}

/** The command that answers an approval. */
export function howToAnswer({ id, request }: Approval, { rehearsal = false }: { rehearsal?: boolean } = {}): string {
  const flag = rehearsal ? " --rehearsal" : "";
  if (request.kind === "custom_tool") return `capstan approvals answer ${shortId(id)} allow --result "…"${flag}`;
  if (request.kind !== "question") return `capstan approvals answer ${shortId(id)} allow${flag}`;
  const { questions } = request.input;
  const count = Array.isArray(questions) ? questions.length : 1;
  const answers = Array.from({ length: count }, (_, index) => ` --answer "${index + 1}=…"`).join("");
  return `capstan approvals answer ${shortId(id)} allow${answers}${flag}`;
}

/** What a session waits for and how to answer; empty if it waits for nothing. */
export function waitingText(
  sessionId: string,
  waiting: readonly Approval[],
  options: { readonly rehearsal?: boolean } = {},
): string {
  const [first] = waiting;
  if (first === undefined) return "";
  const many = waiting.length > 1 ? `${waiting.length} approvals are` : "An approval is";
  const lines = waiting.map((approval) => {
    const { id, request } = approval;
    const by = request.agent === undefined ? "" : ` (subagent ${request.agent})`;
    return `  ${shortId(id)}  ${oneLine(request.title + by, 66)}\n            ${howToAnswer(approval, options)}`;
  });
  return (
    `${many} waiting in session ${shortId(sessionId)}. Answer with allow or deny:\n${lines.join("\n")}\n` +
    `See what would run: capstan approvals show ${shortId(first.id)}\n`
  );
}

/** An approval's status, for display. */
export function statusText(approval: Approval): string {
  const { status, answer } = approval;
  if (isExpired(approval)) return "expired";
  if (status === "pending") return "waiting";
  if (answer === null) return "canceled";
  return answer.behavior === "allow" ? "allowed" : "denied";
}
