import { type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { type Script, scriptedModel } from "../support/scripted-model.ts";
import { bedrockChunk } from "./event-stream.ts";
import { rawServer } from "./support.ts";

/** A request as a provider gets it. */
export interface Arrival {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export interface ProviderServer extends AsyncDisposable {
  readonly url: string;
  /** Everything that came, in order. */
  readonly arrivals: readonly Arrival[];
  /** What the agent's tools said, as the model got to see it. */
  readonly toolResults: readonly string[];
}

/** The access token that the server gives for a subject token. */
export const GOOGLE_TOKEN = "ya29.google-access-token";

/**
 * A provider on loopback that speaks the protocol of the clouds as well, with a scripted model behind it. It answers
 * whoever asks; what arrived is for the test to judge.
 */
export async function providerServer(script: Script): Promise<ProviderServer> {
  await using stack = new AsyncDisposableStack();
  const arrivals: Arrival[] = [];
  const model = stack.use(await scriptedModel(script));
  const server = stack.use(
    await rawServer(async (req, res) => {
      const body = await text(req);
      arrivals.push({
        method: req.method ?? "",
        path: req.url ?? "",
        headers: req.headers as Arrival["headers"],
        body,
      });
      if (req.url === "/token") return json(res, { access_token: GOOGLE_TOKEN, expires_in: 3600 });
      const cloud = cloudRequest(req.url ?? "", body);
      const answer = await ask(`${model.url}${cloud?.path ?? req.url}`, req, cloud?.body ?? body);
      if (cloud?.isBinary !== true || answer.statusCode !== 200) {
        res.writeHead(answer.statusCode ?? 500, answer.headers);
        return void answer.pipe(res);
      }
      res.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" });
      for (const [, event = ""] of (await text(answer)).matchAll(/^data: (.*)$/gm)) res.write(bedrockChunk(event));
      res.end();
    }),
  );
  const parts = stack.move();
  return {
    url: server.url,
    arrivals,
    get toolResults() {
      return model.requests.flatMap(({ toolResults }) => toolResults.map((result) => result.text));
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** What a request to a cloud means in the Messages API; undefined for one that is made there. */
function cloudRequest(path: string, body: string): { path: string; body: string; isBinary: boolean } | undefined {
  const [, bedrock, method] = /^\/model\/([^/]+)\/(invoke(?:-with-response-stream)?)$/.exec(path) ?? [];
  const [, vertex] = /\/publishers\/anthropic\/models\/([^/]+):(?:streamRawPredict|rawPredict)$/.exec(path) ?? [];
  const model = bedrock ?? vertex;
  if (model === undefined) return undefined;
  const isBinary = method === "invoke-with-response-stream";
  const request = {
    ...(JSON.parse(body) as object),
    model: decodeURIComponent(model),
    ...(isBinary && { stream: true }),
  };
  return { path: "/v1/messages", body: JSON.stringify(request), isBinary };
}

function ask(url: string, { headers, method }: IncomingMessage, body: string): Promise<IncomingMessage> {
  const { "content-length": _length, "transfer-encoding": _encoding, host: _host, ...rest } = headers;
  return new Promise((resolve, reject) => {
    httpRequest(url, { method, headers: rest, agent: false }).on("error", reject).on("response", resolve).end(body);
  });
}

function json(res: ServerResponse, value: unknown): void {
  res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}
