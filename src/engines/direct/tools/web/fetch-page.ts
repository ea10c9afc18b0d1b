import { lookup as systemLookup } from "node:dns";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { isPrivateAddress } from "../../../../network/private-address.ts";
import { ToolFailure } from "../files/open-file.ts";

/** Limit for the page after decompression. */
const MAX_BYTES = 10 * 1024 * 1024;
/** Milliseconds, for the whole request. */
const TIMEOUT_MS = 60_000;
const MOST_REDIRECTS = 10;

export type FetchedPage =
  | { readonly kind: "page"; readonly url: URL; readonly type: string; readonly status: number; readonly body: Buffer }
  /** The page is on another host, which needs its own permission. */
  | {
      readonly kind: "elsewhere";
      readonly from: URL;
      readonly to: URL;
      readonly status: number;
      readonly text: string;
    };

/** Whether a private address (this machine or its network) may be reached. */
export type AllowsPrivate = (address: string) => boolean;

/** Fetches a page, from its host only. */
export async function fetchPage(url: URL, allowsPrivate: AllowsPrivate, signal: AbortSignal): Promise<FetchedPage> {
  const late = AbortSignal.timeout(TIMEOUT_MS);
  const either = AbortSignal.any([signal, late]);
  try {
    return await follow(url, allowsPrivate, either);
  } catch (thrown) {
    if (late.aborted) throw new ToolFailure(`${url.host} did not answer within ${TIMEOUT_MS / 1_000} seconds.`);
    throw thrown;
  }
}

async function follow(start: URL, allowsPrivate: AllowsPrivate, signal: AbortSignal): Promise<FetchedPage> {
  let url = start;
  for (let step = 0; step <= MOST_REDIRECTS; step++) {
    const response = await ask(url, allowsPrivate, signal);
    const { statusCode: status = 0, statusMessage: text = "", headers } = response;
    const target = status >= 300 && status < 400 ? URL.parse(headers.location ?? "", url.href) : null;
    if (target === null) {
      const type = (headers["content-type"] ?? "text/plain").toLowerCase();
      return { kind: "page", url, type, status, body: await bodyOf(response) };
    }
    response.destroy();
    if (!isSameHost(url, target)) return { kind: "elsewhere", from: start, to: target, status, text };
    url = target;
  }
  throw new ToolFailure(`${start.host} redirects too often.`);
}

/** The same host, and no downgrade from HTTPS to HTTP. */
function isSameHost(from: URL, to: URL): boolean {
  if (from.hostname !== to.hostname) return false;
  return from.protocol === to.protocol ? from.port === to.port : to.protocol === "https:" && to.port === "";
}

function ask(url: URL, allowsPrivate: AllowsPrivate, signal: AbortSignal): Promise<IncomingMessage> {
  const host = url.hostname.replaceAll(/^\[|\]$/g, "");
  // Names are checked when they are resolved; literal addresses must be checked here.
  if (isIP(host) !== 0 && isPrivateAddress(host) && !allowsPrivate(host)) throw leadsInside(host);
  return new Promise((resolve, reject) => {
    const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(
      url,
      {
        // Shares no connection with the host's own requests.
        agent: false,
        lookup: checkedLookup(allowsPrivate),
        signal,
        headers: {
          accept: "text/markdown, text/html, */*",
          "accept-encoding": "gzip, deflate, br",
          "user-agent": "Capstan (WebFetch)",
        },
      },
      resolve,
    );
    request.on("error", reject);
    request.on("upgrade", (_response, socket) => {
      socket.destroy();
      reject(new ToolFailure(`${url.host} wants to switch to another protocol, which WebFetch does not support.`));
    });
    // Covers every other way a request can end.
    request.on("close", () => reject(new ToolFailure(`${url.host} closed the connection without an answer.`)));
    request.end();
  });
}

/** Resolves a name for the connection itself, so that the checked address is the one that is used. */
function checkedLookup(allowsPrivate: AllowsPrivate): LookupFunction {
  return (hostname, options, callback) => {
    systemLookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(new ToolFailure(`Cannot resolve ${hostname} (${error.code}).`), "", 0);
      const usable = found.filter(({ address }) => !isPrivateAddress(address) || allowsPrivate(address));
      const [first] = usable;
      if (first === undefined) return callback(leadsInside(hostname), "", 0);
      if (options.all === true) callback(null, usable);
      else callback(null, first.address, first.family);
    });
  };
}

function leadsInside(host: string): ToolFailure {
  return new ToolFailure(
    `WebFetch cannot reach ${host}: it is on this machine or a private network. To allow it, add ${host} to network.allow in environment.sandbox.`,
  );
}

async function bodyOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of decompress(response)) {
    const bytes = chunk as Buffer;
    length += bytes.length;
    if (length > MAX_BYTES) {
      response.destroy();
      throw new ToolFailure(`The page is larger than ${MAX_BYTES / 1024 / 1024} MB, which is too much to read.`);
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function decompress(response: IncomingMessage): Readable {
  const unpack = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress }[
    response.headers["content-encoding"] ?? ""
  ];
  if (unpack === undefined) return response;
  const stream = unpack();
  response.on("error", (error) => stream.destroy(error));
  return response.pipe(stream);
}
