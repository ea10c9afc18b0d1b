import type { CapstanClient } from "../../client/index.ts";
import { usage } from "../terminal/failure.ts";

/** A server that commands work against, in place of this machine. */
export interface ChosenServer {
  readonly url: string;
  readonly client: CapstanClient;
}

/** The server that CAPSTAN_URL names; undefined for this machine. Nothing is asked of it yet. */
export async function chosenServer(): Promise<ChosenServer | undefined> {
  const url = process.env["CAPSTAN_URL"]?.trim();
  if (!url) return undefined;
  const key = process.env["CAPSTAN_KEY"]?.trim();
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw usage(`CAPSTAN_URL is ${JSON.stringify(url)}, and must be an address such as http://127.0.0.1:4310`);
  // It would be shown with the address.
  if (parsed.username !== "" || parsed.password !== "")
    throw usage("CAPSTAN_URL holds a user or a password. Give the key in CAPSTAN_KEY, and the address without them.");
  if (!key)
    throw usage(
      `CAPSTAN_URL names the server ${url}, and CAPSTAN_KEY is not set. Set it to a key of that server, made there with: capstan keys create`,
    );
  // Most commands are about this machine, and start without it.
  const { createClient } = await import("../../client/index.ts");
  return { url, client: createClient({ baseUrl: url, apiKey: key }) };
}

/** Ends a command, or a flag of one, that is about this machine while a server is chosen. */
export function refuseOnServer(what: string, next: string): void {
  const url = process.env["CAPSTAN_URL"]?.trim();
  if (url) throw usage(`${what} does not work against a server, and CAPSTAN_URL names ${url}. ${next}`);
}
