import type { RemoteMcpServer } from "../../core/agent/mcp-server-schema.ts";

/** What is wrong with a server somewhere else, as far as the connection to it tells. */
export type Trouble =
  | { readonly kind: "status"; readonly status: number }
  /** It sends those who ask to another host. */
  | { readonly kind: "redirect"; readonly to: string }
  /** It was not reached; the code is the operating system's or the TLS library's. */
  | { readonly kind: "network"; readonly code: string }
  /** What it says is not MCP. */
  | { readonly kind: "garbage" }
  /** It was reached and did not answer. */
  | { readonly kind: "silence" }
  /** The connection ended before the answer. */
  | { readonly kind: "cut" };

interface Words {
  /** For the model, too: neither an address nor the value of a header. */
  readonly what: string;
  /** For whoever wrote the agent. */
  readonly remedy: string;
}

const UNREACHED: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing answers at its address (connection refused)",
  ECONNRESET: "the connection was reset",
  ENOTFOUND: "its host name is not known",
  EAI_AGAIN: "its host name cannot be looked up now",
  ENETUNREACH: "there is no way to its network",
  EHOSTUNREACH: "there is no way to its host",
  ETIMEDOUT: "it does not answer in time",
  UND_ERR_CONNECT_TIMEOUT: "it does not answer in time",
  UND_ERR_SOCKET: "the connection was cut",
};

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)|HOSTNAME_MISMATCH/;
const TLS = /^(?:ERR_SSL|ERR_TLS|EPROTO)/;

/** What is said about a trouble. The address is not named: it may hold a secret, and the model is told, too. */
export function troubleWords(
  trouble: Trouble,
  { name, server }: { readonly name: string; readonly server: Pick<RemoteMcpServer, "headers" | "type"> },
): Words {
  const field = (key: string): string => `mcp_servers.${name}.${key}`;
  switch (trouble.kind) {
    case "status":
      return statusWords(trouble.status, { headers: Object.keys(server.headers), type: server.type, field });
    case "redirect":
      return {
        what: "it redirects to another host, which would be sent the headers",
        remedy: `If you trust ${trouble.to}, write that address into ${field("url")}.`,
      };
    case "network":
      return networkWords(trouble.code, field("url"));
    case "garbage":
      return {
        what: "what it answers is not MCP",
        remedy: `Check ${field("url")}, and whether ${field("type")} is to be http or sse.`,
      };
    case "silence":
      return { what: "it does not answer", remedy: `Check ${field("url")} and ${field("type")}.` };
    case "cut":
      return { what: "the connection ended before its answer", remedy: "See in the server's own log why." };
  }
}

function statusWords(
  status: number,
  { headers, type, field }: { headers: readonly string[]; type: string; field: (key: string) => string },
): Words {
  if (status === 401 || status === 403) {
    const sent = headers.length === 0 ? "no header was sent" : `the headers ${headers.join(", ")} were sent`;
    return { what: `it answered ${status}: it does not let us in`, remedy: `To it ${sent}; see ${field("headers")}.` };
  }
  if (status === 404 || status === 405 || status === 406)
    return {
      what: `it answered ${status}`,
      remedy: `Check ${field("url")}, and whether ${field("type")}, now ${type}, is right.`,
    };
  return {
    what: `it answered ${status}`,
    remedy: status >= 500 ? "Try again later, or see in the server's own log why." : `Check ${field("url")}.`,
  };
}

function networkWords(code: string, url: string): Words {
  if (CERTIFICATE.test(code))
    return {
      what: `its certificate is not trusted (${code})`,
      remedy: `Check ${url}. A certificate of your own is trusted when NODE_EXTRA_CA_CERTS names its file.`,
    };
  if (TLS.test(code))
    return { what: `it cannot be spoken to over TLS (${code})`, remedy: `Is ${url} to begin with http://?` };
  return { what: UNREACHED[code] ?? `it cannot be reached (${code})`, remedy: `Check ${url}.` };
}

/** The code of a failed fetch, which lies in what caused it; of several addresses that were tried, the last one's. */
export function networkCode(thrown: unknown): string {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error instanceof AggregateError && error.errors.length > 0) return networkCode(error.errors.at(-1));
    if ("code" in error && typeof error.code === "string") return error.code;
  }
  return "no reason given";
}
