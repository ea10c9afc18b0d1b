import type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import type { EngineHost } from "../core/ports/engine.ts";

/** A question as a server puts it. */
export interface ServerQuestion {
  readonly message: string;
  readonly mode?: "form" | "url";
  readonly url?: string;
  readonly requestedSchema?: Record<string, unknown>;
}

/** Passes on what an MCP server asks, and the answer. An error answers nothing: the server is told that nobody did. */
export async function elicit(
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
    // An address has nothing to send back but that it was opened.
    return mode === "url" ? { action: "accept" } : { action: "accept", content: { ...answer.content } };
  } catch {
    return { action: "cancel" };
  }
}
