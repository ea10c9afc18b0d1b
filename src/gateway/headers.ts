import type { HeaderList } from "./upstreams/upstream.ts";

/** Headers of one connection, not of the message; a proxy never passes them on. */
const HOP_BY_HOP = [
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
/** The upstream sets these itself: they depend on the destination and the credential. */
const SET_BY_UPSTREAM = ["accept-encoding", "authorization", "content-length", "host", "x-api-key"];

/** Node's flat list (name, value, name, value …) as pairs. */
export function headerList(rawHeaders: readonly string[]): HeaderList {
  return Array.from({ length: rawHeaders.length / 2 }, (_, i) => [
    rawHeaders[2 * i] ?? "",
    rawHeaders[2 * i + 1] ?? "",
  ]);
}

/** The first value of a header; the name is in lower case. */
export function headerValue(headers: HeaderList, name: string): string | undefined {
  return headers.find(([key]) => key.toLowerCase() === name)?.[1];
}

export function withoutHeaders(headers: HeaderList, names: readonly string[]): HeaderList {
  return headers.filter(([key]) => !names.includes(key.toLowerCase()));
}

export function forwardedRequestHeaders(headers: HeaderList): HeaderList {
  return withoutHeaders(headers, [...hopByHop(headers), ...SET_BY_UPSTREAM]);
}

export function forwardedResponseHeaders(headers: HeaderList): HeaderList {
  return withoutHeaders(headers, hopByHop(headers));
}

/** The headers of an answer that a client has decoded: those about the bytes on the wire no longer apply. */
export function responseHeaders(headers: Headers): HeaderList {
  return withoutHeaders([...headers], [...HOP_BY_HOP, "content-encoding", "content-length"]);
}

function hopByHop(headers: HeaderList): string[] {
  const named = headers.filter(([key]) => key.toLowerCase() === "connection").flatMap(([, value]) => value.split(","));
  return [...HOP_BY_HOP, ...named.map((name) => name.trim().toLowerCase())];
}
