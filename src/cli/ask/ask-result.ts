import type { Approval } from "../../core/session/approval.ts";
import { approvalBlock } from "./ask-block.ts";
import type { Prompts } from "./ask-prompts.ts";
import { type GivenAnswer, notEmpty } from "./ask-tool.ts";
import { columns } from "../terminal/text.ts";

/** Custom tools run in a client; here the person at the terminal enters the result. */
export async function askForResult(approval: Approval, prompts: Prompts): Promise<GivenAnswer> {
  process.stdout.write(`\n${approvalBlock(approval, { width: columns() }).text}\n`);
  for (;;) {
    const action = await prompts.choose(
      "What does the tool return?",
      [
        { value: "result", label: "Enter the result…" },
        { value: "deny", label: "Deny with a reason…" },
        { value: "later", label: "Later", hint: "the session waits for a client" },
      ],
      { isFirst: true },
    );
    if (action === undefined) return "interrupt";
    if (action === "later") return "later";
    const question = action === "result" ? "Result:" : "Reason for the agent:";
    const text = await prompts.line(question, { validate: notEmpty });
    if (text === undefined) continue;
    if (action === "deny") return { behavior: "deny", message: text };
    return { behavior: "allow", result: { content: [{ type: "text", text }], isError: false } };
  }
}
