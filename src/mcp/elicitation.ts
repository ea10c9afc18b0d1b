import type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import type { EngineHost } from "../core/ports/engine.ts";

/** A question of a server. */
export interface ServerQuestion {
  readonly message: string;
  readonly mode?: "form" | "url";
  readonly url?: string;
  readonly requestedSchema?: Record<string, unknown>;
}

/**
 * Passes on a question of an MCP server, and the answer. In case of an error, the server is told that nobody answered.
 */
export async function forwardElicitation(
  host: Pick<EngineHost, "elicit">,
  { serverName, message, mode, url, requestedSchema }: ServerQuestion & { readonly serverName: string },
  signal: AbortSignal,
): Promise<ElicitResult> {
  try {
    const answer = await host.elicit(
      {
        server: serverName,
        message,
        requested: mode === "url" ? { kind: "url", url: url ?? "" } : { kind: "form", schema: requestedSchema ?? {} },
      },
      signal,
    );
    if (answer.action !== "accept") return { action: answer.action };
    // For a URL, the answer only says that it was opened.
    return mode === "url" ? { action: "accept" } : { action: "accept", content: { ...answer.content } };
  } catch {
    return { action: "cancel" };
  }
}
