import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { CapstanApiError, createClient } from "../../src/client/index.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

interface Wire extends AsyncDisposable {
  readonly url: string;
  /** The position that each connection resumed after. */
  readonly places: (string | undefined)[];
}

/** A server that handles each connection with the next of `handlers`, so that it can be cut off anywhere. */
async function wire(...handlers: readonly Handler[]): Promise<Wire> {
  const places: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const handler = handlers[Math.min(places.length, handlers.length - 1)];
    places.push(request.headers["last-event-id"] as string | undefined);
    handler?.(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    places,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

const frame = (seq: number, text = `t${seq}`): string =>
  `event: agent.message\nid: ${seq}\ndata: ${JSON.stringify({ type: "agent.message", seq, text })}\n\n`;

function sends(text: string, { cut = false }: { cut?: boolean } = {}): Handler {
  return (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(text);
    if (cut) setImmediate(() => response.destroy());
    else response.end();
  };
}

function refuses(status: number, type: string): Handler {
  return (_, response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ type: "error", error: { type, message: "no" }, request_id: "req_1" }));
  };
}

async function followUpTo(url: string, upTo: number, after = 0): Promise<number[]> {
  const seen: number[] = [];
  for await (const item of createClient({ baseUrl: url }).sessions.stream("sesn_1", { after })) {
    if ("seq" in item) seen.push(item.seq);
    if (seen.at(-1) === upTo) break;
  }
  return seen;
}

test("a stream that is cut off resumes without gaps or repeats", async () => {
  const half = frame(3).slice(0, 40);
  await using server = await wire(
    sends(frame(1) + frame(2) + half, { cut: true }),
    sends(frame(3)),
    refuses(503, "api_error"),
    (_, response) => response.destroy(),
    sends(frame(4) + frame(5)),
  );
  expect(await followUpTo(server.url, 5)).toEqual([1, 2, 3, 4, 5]);
  expect(server.places).toEqual([undefined, "2", "3", "3", "3"]);
});

test("a stream starts at the given position", async () => {
  await using server = await wire(sends(frame(8)));
  expect(await followUpTo(server.url, 8, 7)).toEqual([8]);
  expect(server.places).toEqual(["7"]);
});

test("reads frames in chunks of any size", async () => {
  const text = `: hello\n\nretry: 5\n\nevent: ping\ndata: {"type":"ping"}\n\n${frame(1, "schön\n\nzwei Absätze")}${frame(2).replaceAll("\n", "\r\n")}`;
  await using server = await wire((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    void (async () => {
      for (const byte of Buffer.from(text)) {
        response.write(Buffer.from([byte]));
        await new Promise(setImmediate);
      }
    })();
  });
  const seen: unknown[] = [];
  for await (const item of createClient({ baseUrl: server.url }).sessions.stream("sesn_1")) {
    seen.push(item);
    if (seen.length === 2) break;
  }
  expect(seen).toEqual([
    { type: "agent.message", seq: 1, text: "schön\n\nzwei Absätze" },
    { type: "agent.message", seq: 2, text: "t2" },
  ]);
});

test("does not retry what the server rejects for good", async () => {
  await using server = await wire(sends(frame(1)), refuses(404, "not_found_error"));
  const thrown: unknown = await followUpTo(server.url, 9).catch((reason: unknown) => reason);
  expect(thrown).toBeInstanceOf(CapstanApiError);
  expect(thrown).toMatchObject({ status: 404, requestId: "req_1" });
  expect(server.places).toHaveLength(2);
});

test("a stream ends without an error when it is aborted", async () => {
  await using server = await wire(sends(frame(1)), refuses(503, "api_error"));
  const leaving = new AbortController();
  const retries: number[] = [];
  const seen: unknown[] = [];
  const options = {
    signal: leaving.signal,
    onRetry: (failures: number) => {
      retries.push(failures);
      if (failures === 2) leaving.abort();
    },
  };
  for await (const item of createClient({ baseUrl: server.url }).sessions.stream("sesn_1", options)) seen.push(item);
  expect(seen).toHaveLength(1);
  expect(retries).toEqual([1, 2]);
});
