import type { Approval } from "../../core/session/approval.ts";
import { CapstanError } from "../../core/errors.ts";
import { oneLine, shortId } from "./text.ts";

const SHORTEST = 4;

/** The one of `all` that a whole id, or the beginning or end of one, stands for. */
export function resolveId<T extends { readonly id: string }>(
  all: readonly T[],
  given: string,
  { what, command }: { readonly what: string; readonly command: string },
): T {
  if (given.length < SHORTEST)
    throw new CapstanError(
      "invalid_input",
      `"${given}" is too short to name ${what === "approval" ? "an" : "a"} ${what}. Give at least ${SHORTEST} characters of its id.`,
    );
  const found = all.filter(({ id }) => id === given || id.endsWith(given) || id.startsWith(given));
  const [only, ...others] = found.some(({ id }) => id === given) ? found.filter(({ id }) => id === given) : found;
  if (only === undefined) throw new CapstanError("not_found", `There is no ${what} ${given}. See: ${command}`);
  if (others.length > 0)
    throw new CapstanError("invalid_input", `${given} stands for ${found.length} ${what}s. Give more of the id.`);
  return only;
}

export const APPROVAL = { what: "approval", command: "capstan approvals list --all" };

/** Pending in the store, but too late to answer. */
function isExpired({ status, expiresAt }: Approval, now = Date.now()): boolean {
  return status === "pending" && expiresAt !== null && expiresAt <= now;
}

export function isOpen(approval: Approval): boolean {
  return approval.status === "pending" && !isExpired(approval);
}

/** The command that answers an approval, to be typed as it is. */
export function howToAnswer({ id, request }: Approval, { rehearsal = false }: { rehearsal?: boolean } = {}): string {
  const flag = rehearsal ? " --rehearsal" : "";
  if (request.kind === "custom_tool") return `capstan approvals answer ${shortId(id)} allow --result "…"${flag}`;
  if (request.kind !== "question") return `capstan approvals answer ${shortId(id)} allow${flag}`;
  const { questions } = request.input;
  const count = Array.isArray(questions) ? questions.length : 1;
  const answers = Array.from({ length: count }, (_, index) => ` --answer "${index + 1}=…"`).join("");
  return `capstan approvals answer ${shortId(id)} allow${answers}${flag}`;
}

/** Says what a session waits for and how to go on; empty when it waits for nothing. */
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

/** How an approval stands, in a word or a few. */
export function standing(approval: Approval): string {
  const { status, answer } = approval;
  if (isExpired(approval)) return "expired";
  if (status === "pending") return "waiting";
  if (answer === null) return "given up";
  return answer.behavior === "allow" ? "allowed" : "denied";
}
