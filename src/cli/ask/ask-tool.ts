import { stringify } from "yaml";
import type { Approval, ApprovalAnswer } from "../../core/session/approval.ts";
import { messageOf } from "../../core/errors.ts";
import { parseAllowRule } from "../../core/permission/rule-set.ts";
import { approvalBlock } from "./ask-block.ts";
import { editInput } from "./ask-edit.ts";
import type { PromptChoice, Prompts } from "./ask-prompts.ts";
import type { FollowedHost, RememberedScope } from "../target/followed-session.ts";
import { color, columns } from "../terminal/text.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

/** `later` leaves the approval pending; `interrupt` ends the turn. */
export type GivenAnswer = ApprovalAnswer | "later" | "interrupt";

type Action = RememberedScope | "once" | "deny" | "reason" | "edit" | "whole" | "later";

/** Longer changes are shown in full on request, so that the choices stay on the screen. */
const MAX_LINES = 40;

const WHERE: Readonly<Record<RememberedScope, string>> = {
  session: "in this session",
  project: "in this project",
  always: "everywhere",
};

const EVERYWHERE: readonly RememberedScope[] = ["session", "project", "always"];

/** The scopes of remembered answers, and whether the person may edit the rules. */
export type Remembering = Pick<FollowedHost, "scopes" | "mayWriteRules">;

export async function askAboutCall(
  approval: Approval,
  prompts: Prompts,
  { scopes = EVERYWHERE, mayWriteRules = async () => true }: Remembering = {},
): Promise<GivenAnswer> {
  const { request } = approval;
  const { leftOut } = show(approval, MAX_LINES);
  for (let cut = leftOut > 0; ;) {
    const choices: PromptChoice<Action>[] = [
      ...actionsFor(approval, scopes),
      ...(cut ? [{ value: "whole", label: `Show the whole change (${leftOut} more lines)` } as const] : []),
      { value: "later", label: "Later", hint: "the session waits" },
    ];
    const question = request.kind === "plan" ? "Approve this plan?" : "Allow this?";
    const action = await prompts.choose(question, choices, { isFirst: true });
    switch (action) {
      case undefined:
        return "interrupt";
      case "later":
        return "later";
      case "once":
        return { behavior: "allow" };
      case "deny":
        return { behavior: "deny" };
      case "whole":
        cut = false;
        show(approval, Infinity);
        break;
      case "reason": {
        const message = await prompts.line("Reason for the agent:", { validate: notEmpty });
        if (message !== undefined) return { behavior: "deny", message };
        break;
      }
      case "edit": {
        const input = await editInput(request.input, prompts);
        if (input !== undefined && (await confirmInput(input, prompts))) return { behavior: "allow", input };
        break;
      }
      default: {
        const rules = await rulesToRemember(approval, { scope: action, prompts, mayWriteRules });
        if (rules !== undefined) return { behavior: "allow", scope: action, rules };
      }
    }
  }
}

function show(approval: Approval, maxLines: number): { leftOut: number } {
  const { text, leftOut } = approvalBlock(approval, { width: columns(), maxLines });
  print(`\n${text}`);
  if (leftOut > 0) print(color.dim(`… ${leftOut} more lines`));
  return { leftOut };
}

function actionsFor({ request }: Approval, scopes: readonly RememberedScope[]): PromptChoice<Action>[] {
  const deny: PromptChoice<Action>[] = [
    { value: "deny", label: "Deny" },
    { value: "reason", label: "Deny with a reason…" },
  ];
  if (request.kind === "plan") return [{ value: "once", label: "Approve" }, ...deny];
  const hint = request.remember.map(escapeHidden).join(", ");
  const remembered: PromptChoice<Action>[] = scopes.map((scope) => ({
    value: scope,
    label: `Allow ${scope === "always" ? "always, everywhere" : WHERE[scope]}…`,
    hint,
  }));
  return [
    { value: "once", label: "Allow once" },
    ...(request.remember.length > 0 ? remembered : []),
    ...deny,
    { value: "edit", label: "Edit the input…" },
  ];
}

/** Shows the exact rules before they are saved; the person can edit them if the host allows it. */
async function rulesToRemember(
  { request }: Approval,
  {
    scope,
    prompts,
    mayWriteRules,
  }: { scope: RememberedScope; prompts: Prompts; mayWriteRules: NonNullable<FollowedHost["mayWriteRules"]> },
): Promise<readonly string[] | undefined> {
  let rules: readonly string[] = request.remember;
  const edit = (await mayWriteRules()) ? [{ value: "edit", label: "Edit…" } as const] : [];
  for (;;) {
    print(
      `Calls matching ${rules.length === 1 ? "this rule" : "these rules"} will run ${WHERE[scope]} without asking:`,
    );
    for (const rule of rules) print(`  ${color.bold(escapeHidden(rule))}`);
    const next = await prompts.choose(rules.length === 1 ? "Save this rule?" : `Save these ${rules.length} rules?`, [
      { value: "save", label: "Save and allow" },
      ...edit,
      { value: "back", label: "Back" },
    ]);
    if (next === "save") return rules;
    if (next !== "edit") return undefined;
    const edited = await editRules(rules, prompts);
    if (edited !== undefined && edited.length > 0) rules = edited;
  }
}

async function editRules(rules: readonly string[], prompts: Prompts): Promise<readonly string[] | undefined> {
  const edited: string[] = [];
  for (const [index, rule] of rules.entries()) {
    const which = rules.length === 1 ? "Rule:" : `Rule ${index + 1} of ${rules.length} (leave empty to remove):`;
    const text = await prompts.line(which, {
      initial: rule,
      validate: (given) => (given.trim() === "" && rules.length > 1 ? undefined : ruleProblem(given.trim())),
    });
    if (text === undefined) return undefined;
    if (text.trim() !== "") edited.push(text.trim());
  }
  return edited;
}

/** What is wrong with a rule; undefined if it is valid. */
export function ruleProblem(rule: string): string | undefined {
  try {
    parseAllowRule(rule);
    return undefined;
  } catch (thrown) {
    const text = messageOf(thrown);
    return `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}.`;
  }
}

async function confirmInput(input: Approval["request"]["input"], prompts: Prompts): Promise<boolean> {
  print(`\n${escapeHidden(stringify(input, { lineWidth: 0 }).trimEnd())}`);
  const next = await prompts.choose("Run it once with this input?", [
    { value: "run", label: "Allow once, as edited" },
    { value: "back", label: "Back" },
  ]);
  return next === "run";
}

export function notEmpty(text: string): string | undefined {
  return text.trim() === "" ? "Enter some text, or press Escape to go back." : undefined;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
