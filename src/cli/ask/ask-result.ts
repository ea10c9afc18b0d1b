import type { Approval } from "../../core/session/approval.ts";
import { approvalBlock } from "./ask-block.ts";
import type { Prompts } from "./ask-prompts.ts";
import { type Given, notEmpty } from "./ask-tool.ts";
import { columns } from "../terminal/text.ts";

/** A custom tool runs in a client, and the person at the terminal may stand in for one. */
export async function askForResult(approval: Approval, prompts: Prompts): Promise<Given> {
  process.stdout.write(`\n${approvalBlock(approval, { width: columns() }).text}\n`);
  for (;;) {
    const action = await prompts.choose(
      "What does it return?",
      [
        { value: "result", label: "Write its result…" },
        { value: "deny", label: "Deny with a reason…" },
        { value: "later", label: "Later", hint: "leaves it to a client; the session waits" },
      ],
      { isFirst: true },
    );
    if (action === undefined) return "interrupt";
    if (action === "later") return "later";
    const question = action === "result" ? "The result:" : "What should the agent be told?";
    const text = await prompts.line(question, { validate: notEmpty });
    if (text === undefined) continue;
    if (action === "deny") return { behavior: "deny", message: text };
    return { behavior: "allow", result: { content: [{ type: "text", text }], isError: false } };
  }
}
