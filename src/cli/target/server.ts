import type { CapstanClient } from "../../client/index.ts";
import { usageError } from "../terminal/failure.ts";

/** A server that commands use instead of this machine. */
export interface ChosenServer {
  readonly url: string;
  readonly client: CapstanClient;
}

/** The server in CAPSTAN_URL; undefined for this machine. Sends no request. */
export async function chosenServer(): Promise<ChosenServer | undefined> {
  const url = process.env["CAPSTAN_URL"]?.trim();
  if (!url) return undefined;
  const key = process.env["CAPSTAN_KEY"]?.trim();
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw usageError(`CAPSTAN_URL is ${JSON.stringify(url)}. Set it to an address such as http://127.0.0.1:4310`);
  // Error messages contain the address.
  if (parsed.username !== "" || parsed.password !== "")
    throw usageError("CAPSTAN_URL contains a user name or password. Remove it, and set CAPSTAN_KEY to the key.");
  if (!key)
    throw usageError(
      `CAPSTAN_KEY is not set, and CAPSTAN_URL names the server ${url}. Set CAPSTAN_KEY to a key of that server. To create one there: capstan keys create`,
    );
  // Imported lazily: most commands do not need it.
  const { createClient } = await import("../../client/index.ts");
  return { url, client: createClient({ baseUrl: url, apiKey: key }) };
}

/** Throws if CAPSTAN_URL names a server; for commands and flags that work only on this machine. */
export function refuseOnServer(what: string, next: string): void {
  const url = process.env["CAPSTAN_URL"]?.trim();
  if (url) throw usageError(`${what} does not work against a server, and CAPSTAN_URL is set to ${url}. ${next}`);
}
