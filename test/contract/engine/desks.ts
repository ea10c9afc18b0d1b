import { z } from "zod";
import { CapstanError } from "../../../src/core/errors.ts";
import type { BeforeTool } from "../../../src/core/ports/hooks.ts";
import { defineTool } from "../../../src/tools/define-tool.ts";
import { office } from "../../support/office.ts";
import { type Shared, sharedSession } from "../../support/shared-session.ts";
import type { Script } from "../../support/scripted-model.ts";
import type { Stage } from "./stage.ts";

/** A session that several tests use one after another: to start a process for each would cost most of their time. */
type Desk = (script: Script) => Promise<Shared>;

export interface Desks {
  /** Has the file tools and Bash, which may do everything but `touch`, which is asked about, and `rm`. */
  readonly worker: Desk;
  /** A tool of the worker's that waits. */
  readonly hold: Hold;
  /** May do nothing without being asked. Has questions, a custom tool and an MCP server, as far as its engine has. */
  readonly asking: Desk;
  /** What the hook of the asking session does with a call. */
  readonly hook: { beforeTool: BeforeTool };
}

export const WORKER_TOOLS = ["Bash", "Read", "Write", "Edit", "Glob", "Grep"];
export const LOOKUP = {
  name: "lookup",
  description: "Looks a key up.",
  input_schema: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
} as const;

export function desks(stage: Stage): Desks {
  const hold = new Hold();
  const worker = sharedSession(
    () =>
      stage.agent({
        tools: WORKER_TOOLS,
        permissions: { allow: ["Bash", "Edit"], ask: ["Bash(touch *)"], deny: ["Bash(rm *)"] },
      }),
    { tools: [hold.tool, meeting(), find], variables: { PROJECT: "named" } },
  );
  const hook: Desks["hook"] = { beforeTool: () => undefined };
  const asking = sharedSession(
    (t) =>
      stage.agent({
        tools: ["Bash", "Write", ...(stage.has("questions") ? ["AskUserQuestion"] : [])],
        ...(stage.has("custom_tools") && { custom_tools: [{ ...LOOKUP }] }),
        ...(stage.has("mcp_programs") && {
          mcp_servers: office(t.home).servers,
          permissions: { allow: ["mcp__office__book"] },
        }),
      }),
    { hooks: { beforeTool: (facts) => hook.beforeTool(facts) } },
  );
  return { worker, hold, asking, hook };
}

/** A tool of the host that waits until it is let go, or told to stop. */
class Hold {
  entered = Promise.withResolvers<void>();
  released = Promise.withResolvers<void>();
  aborted = false;
  readonly tool = defineTool({
    name: "hold",
    description: "Waits.",
    input: z.object({}),
    annotations: { safeInternal: true },
    handler: async (_input, { signal }) => {
      this.entered.resolve();
      const stopped = new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
      }).then(() => (this.aborted = true));
      await Promise.race([this.released.promise, stopped]);
      return "held";
    },
  });

  reset(): void {
    this.entered = Promise.withResolvers<void>();
    this.released = Promise.withResolvers<void>();
    this.aborted = false;
  }
}

/** Ends when two calls are in it together: one after the other they would never end. */
function meeting(): ReturnType<typeof defineTool> {
  const met = Promise.withResolvers<void>();
  let inside = 0;
  return defineTool({
    name: "meet",
    description: "Waits for another call.",
    input: z.object({ who: z.string() }),
    annotations: { readOnly: true },
    handler: async ({ who }) => {
      inside += 1;
      if (inside === 2) met.resolve();
      await met.promise;
      return `${who} met`;
    },
  });
}

const find = defineTool({
  name: "find",
  description: "Finds a key.",
  input: z.object({ key: z.string() }),
  annotations: { readOnly: true },
  handler: ({ key }) => {
    if (key === "missing") throw new CapstanError("tool_failed", "no such key");
    return `value of ${key}`;
  },
});
