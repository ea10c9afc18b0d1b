import type { RemoteMcpServer } from "../../core/agent/mcp-server-schema.ts";

/** The problem with a remote server, as far as the connection shows. */
export type Trouble =
  | { readonly kind: "status"; readonly status: number }
  /** It redirects to another host. */
  | { readonly kind: "redirect"; readonly to: string }
  /** It was not reached; the code is the operating system's or the TLS library's. */
  | { readonly kind: "network"; readonly code: string }
  /** Its answer is not MCP. */
  | { readonly kind: "garbage" }
  /** It was reached and did not answer. */
  | { readonly kind: "silence" }
  /** The connection ended before the answer. */
  | { readonly kind: "cut" };

interface Words {
  /** Also for the model: contains neither a URL nor the value of a header. */
  readonly what: string;
  /** For the agent's author. */
  readonly remedy: string;
}

const UNREACHED: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing is listening at its address (connection refused)",
  ECONNRESET: "the connection was reset",
  ENOTFOUND: "its host name does not exist",
  EAI_AGAIN: "its host name cannot be resolved right now",
  ENETUNREACH: "its network is unreachable",
  EHOSTUNREACH: "its host is unreachable",
  ETIMEDOUT: "it did not answer in time",
  UND_ERR_CONNECT_TIMEOUT: "it did not answer in time",
  UND_ERR_SOCKET: "the connection was cut",
};

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)|HOSTNAME_MISMATCH/;
const TLS = /^(?:ERR_SSL|ERR_TLS|EPROTO)/;

/** The texts for a problem. They do not contain the URL: it may contain a secret, and the model sees them too. */
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
        what: "it redirects to another host, which would receive the headers",
        remedy: `If you trust ${trouble.to}, use that address in ${field("url")}.`,
      };
    case "network":
      return networkWords(trouble.code, field("url"));
    case "garbage":
      return {
        what: "its answer is not MCP",
        remedy: `Check ${field("url")}, and whether ${field("type")} must be http or sse.`,
      };
    case "silence":
      return { what: "it does not answer", remedy: `Check ${field("url")} and ${field("type")}.` };
    case "cut":
      return { what: "the connection ended before its answer", remedy: "Check the server's log." };
  }
}

function statusWords(
  status: number,
  { headers, type, field }: { headers: readonly string[]; type: string; field: (key: string) => string },
): Words {
  if (status === 401 || status === 403) {
    const sent = headers.length === 0 ? "no headers" : `the headers ${headers.join(", ")}`;
    return {
      what: `it answered ${status}: access denied`,
      remedy: `Capstan sent ${sent}. Check ${field("headers")}.`,
    };
  }
  if (status === 404 || status === 405 || status === 406)
    return {
      what: `it answered ${status}`,
      remedy: `Check ${field("url")}, and whether ${field("type")}, now ${type}, is right.`,
    };
  return {
    what: `it answered ${status}`,
    remedy: status >= 500 ? "Try again later, or check the server's log." : `Check ${field("url")}.`,
  };
}

function networkWords(code: string, url: string): Words {
  if (CERTIFICATE.test(code))
    return {
      what: `its certificate is not trusted (${code})`,
      remedy: `Check ${url}. To trust your own certificate, set NODE_EXTRA_CA_CERTS to its file.`,
    };
  if (TLS.test(code))
    return { what: `the TLS connection failed (${code})`, remedy: `Check whether ${url} must start with http://.` };
  return { what: UNREACHED[code] ?? `it cannot be reached (${code})`, remedy: `Check ${url}.` };
}

/** The code of a failed fetch, which is in its cause; if several addresses were tried, the last one's. */
export function networkCode(thrown: unknown): string {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error instanceof AggregateError && error.errors.length > 0) return networkCode(error.errors.at(-1));
    if ("code" in error && typeof error.code === "string") return error.code;
  }
  return "no reason given";
}
