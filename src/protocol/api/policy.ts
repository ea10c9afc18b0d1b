import { z } from "zod";
import { agentDefinition, MODES } from "../../core/agent/agent-definition.ts";
import { approvalRequested } from "../../core/events/capstan.ts";
import { callSubject } from "../../core/rules/subject.ts";
import { timestamp } from "./common.ts";
import { agentReference } from "./session-requests.ts";

const { ask, allow, deny } = agentDefinition.shape.permissions.unwrap().shape;
const behavior = z.enum(["allow", "deny", "ask"]);

export const checkInput = z.strictObject({
  call: z
    .string()
    .min(1)
    .describe("The call, written like a rule, such as `Bash(rm -rf build)` or `Read(./notes.txt)`."),
  agent: agentReference
    .optional()
    .describe("A saved agent. Default, if `agent_definition` is absent too: the server's agent for the project."),
  agent_definition: agentDefinition.optional().describe("Use this agent."),
  mode: z.enum(MODES).optional().describe("Use this mode."),
  cwd: z.string().optional().describe("Use this directory. Default: the project's."),
});
export type CheckInput = z.input<typeof checkInput>;

export const explanation = z.object({
  call: z.string(),
  behavior,
  decided_by: z.string().describe("Such as `rule:deny Bash(rm *)` or `mode:yolo`."),
  reason: z.string(),
  rememberable: z.boolean(),
  kind: approvalRequested.shape.kind.describe("The request that a person would see."),
  mode: z.enum(MODES),
  steps: z
    .array(z.object({ step: z.string(), found: z.string() }))
    .describe("In order; the last one made the decision."),
  remembers: z.array(z.string()).describe("The rules that a remembered answer would save."),
  subject: callSubject.describe("How the call was parsed."),
});
export type WireExplanation = z.infer<typeof explanation>;

export const replayInput = z.strictObject({
  permissions: z
    .strictObject({
      mode: z.enum(MODES).optional(),
      allow: allow.unwrap().optional(),
      ask: ask.unwrap().optional(),
      deny: deny.unwrap().optional(),
    })
    .describe("The rules to test."),
  session_id: z.string().optional().describe("Only decisions of this session. Default: all."),
  since: timestamp.optional(),
});
export type ReplayInput = z.input<typeof replayInput>;

export const replayLine = z.object({
  session_id: z.string(),
  event_id: z.string(),
  at: z.string(),
  tool: z.string(),
  about: z.string().describe("A one-line description of the call."),
  before: behavior,
  now: behavior,
  changed: z.boolean(),
  decided_by_before: z.string(),
  decided_by: z.string(),
  reason: z.string(),
});
export type WireReplayLine = z.infer<typeof replayLine>;

export const replay = z.object({
  data: z.array(replayLine),
  skipped: z.number().describe("Decisions that cannot be replayed: made by a limit, an error or an older version."),
});
export type WireReplay = z.infer<typeof replay>;
