import { randomUUID } from "node:crypto";
import { type FixtureResponse, LLMock } from "@copilotkit/aimock";
import { httpUpstream } from "./http-upstream.ts";
import type { MessagesRequest } from "./rehearsal-conversation.ts";
import { rehearse, type ToolCall } from "./rehearsal-script.ts";
import type { Upstream } from "./upstream.ts";

const BYTES_PER_TOKEN = 4;
/** aimock hands this header to the fixture, which is how an answer finds its request. */
const CONTEXT_HEADER = "x-aimock-context";

/**
 * The built-in scripted model, behind a real HTTP server on loopback that speaks the Messages API.
 * The answer is worked out from the request as it came, because aimock's own view of it leaves out what the script
 * needs: where one text ends, whether a tool failed, how long the request was.
 * To be disposed of after the gateway, because it waits for answers under way.
 */
export async function openRehearsal(): Promise<Upstream & AsyncDisposable> {
  const replies = new Map<string, FixtureResponse>();
  const secret = randomUUID();
  // Its journal would keep every request; it cannot be off, and 0 means unlimited.
  const mock = new LLMock({ host: "127.0.0.1", port: 0, auth: { apiKeys: [secret] }, journalMaxEntries: 1 });
  mock.addFixture({ match: {}, response: (request) => replies.get(request._context ?? "") ?? NOT_ASKED });
  await mock.start();
  const http = httpUpstream({ baseUrl: new URL(mock.url), credential: { kind: "api_key", secret } });
  return {
    billing: "rehearsal",
    async send(request) {
      const context = randomUUID();
      replies.set(context, toFixture(request.body));
      try {
        return await http.send({ ...request, headers: [...request.headers, [CONTEXT_HEADER, context]] });
      } finally {
        replies.delete(context);
      }
    },
    [Symbol.asyncDispose]: () => mock.stop(),
  };
}

const NOT_ASKED: FixtureResponse = { status: 400, error: { message: "Not a request of the gateway." } };

function toFixture(body: Uint8Array | undefined): FixtureResponse {
  const request = JSON.parse(new TextDecoder().decode(body ?? new Uint8Array(0)) || "{}") as MessagesRequest;
  const reply = rehearse(request);
  if ("error" in reply) return { status: reply.error.status, error: reply.error };
  return {
    ...("text" in reply ? { content: reply.text } : { toolCalls: reply.calls.map(toFixtureCall) }),
    ...(reply.thinking !== undefined && { reasoning: reply.thinking }),
    usage: {
      input_tokens: Math.ceil((body?.byteLength ?? 0) / BYTES_PER_TOKEN),
      output_tokens: Math.ceil(JSON.stringify(reply).length / BYTES_PER_TOKEN),
    },
  };
}

function toFixtureCall({ name, input }: ToolCall): { id: string; name: string; arguments: string } {
  return { id: `toolu_${randomUUID().replaceAll("-", "")}`, name, arguments: JSON.stringify(input) };
}
