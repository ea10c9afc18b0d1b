import type { Engine, EngineRequest } from "../../src/core/ports/engine.ts";
import type { EngineName } from "../../src/core/agent/engine-name.ts";
import type { EngineCapabilities } from "../../src/core/ports/engine-capabilities.ts";
import { CapstanError, messageOf } from "../../src/core/errors.ts";
import type { HistoryItem } from "../../src/core/session/history.ts";
import { claudeCapabilities } from "../../src/engines/claude/capabilities.ts";
import { textOf } from "../../src/core/text/text.ts";

/** An engine at the port that asks the model and answers with the message: to see which engine runs a session, and with what. */
export interface EchoEngine extends Engine {
  /** What happened to its processes, in order, as `open` and `close` with what it knew then. */
  readonly seen: readonly string[];
  readonly requests: readonly EngineRequest[];
}

export function echoEngine(
  name: EngineName,
  {
    lacks = {},
    hold,
    seen = [],
    prompt = "",
  }: {
    /** What it cannot do. */
    lacks?: Partial<EngineCapabilities>;
    hold?: () => Promise<void>;
    seen?: string[];
    /** What the model is told besides. */
    prompt?: string;
  } = {},
): EchoEngine {
  const requests: EngineRequest[] = [];
  return {
    name,
    version: "1.2.3",
    capabilities: { ...claudeCapabilities, ...lacks },
    seen,
    requests,
    validate: () => {},
    async open(request, host) {
      requests.push(request);
      seen.push(`open ${name}: ${spokenTexts(request.history).join(" | ")}`);
      let messages = 0;
      return {
        pid: process.pid,
        history: request.history.length === 0 ? "new" : "reseeded",
        contained: true,
        send({ eventId, content }) {
          const answer = async (): Promise<void> => {
            await host.emit({ kind: "delivered", eventIds: [eventId] });
            await ask(request, { prompt, content: textOf(content) });
            await hold?.();
            const message_id = `msg_${requests.length}_${(messages += 1)}_${name}`;
            const text = `${name}: ${textOf(content)}`;
            const draft = { type: "agent.message" as const, message_id, content: [{ type: "text" as const, text }] };
            await host.emit({ kind: "event", draft });
            await host.emit({ kind: "turn_ended", end: { outcome: "completed", usage: {} } });
          };
          void answer().catch((thrown: unknown) => {
            const error = new CapstanError("model_failed", messageOf(thrown));
            return host.emit({ kind: "turn_ended", end: { outcome: "failed", error, usage: {} } });
          });
        },
        interrupt: async () => {},
        close: async () => void seen.push(`close ${name}`),
        kill: () => void seen.push(`kill ${name}`),
      };
    },
  };
}

/** A message counts as delivered once a model request has held it. */
async function ask(
  { gateway, sessionId, model }: EngineRequest,
  { prompt, content }: { prompt: string; content: string },
): Promise<void> {
  const answer = await fetch(`${gateway.url}/v1/messages`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${gateway.token}`,
      "x-claude-code-session-id": sessionId,
      "x-claude-code-request-class": "main",
    },
    body: JSON.stringify({ model, max_tokens: 100, system: prompt, messages: [{ role: "user", content }] }),
  });
  if (!answer.ok) throw new Error(`The model answered ${answer.status}: ${await answer.text()}`);
  await answer.text();
}

function spokenTexts(history: readonly HistoryItem[]): readonly string[] {
  return history.flatMap((item) => {
    if (item.kind === "user") return [textOf(item.content)];
    return item.kind === "model" ? item.blocks.flatMap((block) => (block.kind === "text" ? [block.text] : [])) : [];
  });
}
