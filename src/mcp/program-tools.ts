import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { START_TIMEOUT_MS } from "./remote/connection.ts";

interface StartedProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

/** A longer list counts as endless. */
const MOST_PAGES = 1_000;

/** Starts a program that speaks MCP, lists its tools, and ends it. Rejects with the client's error. */
export async function toolsOfProgram(
  { command, args, cwd }: StartedProgram,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const transport = new StdioClientTransport({ command, args: [...args], cwd, stderr: "ignore" });
  const client = new Client({ name: "capstan", version: "1" });
  const options = { timeout: START_TIMEOUT_MS, signal };
  try {
    await client.connect(transport, options);
    const names: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page++) {
      const listed = await client.listTools(cursor === undefined ? {} : { cursor }, options);
      names.push(...listed.tools.map(({ name }) => name));
      cursor = listed.nextCursor;
      if (cursor === undefined) break;
    }
    return names;
  } finally {
    await client.close();
  }
}
