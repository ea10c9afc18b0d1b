import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Options } from "@anthropic-ai/claude-agent-sdk";
import type { GatewayAccess } from "../../../core/ports/gateway.ts";

type SdkSettings = Exclude<NonNullable<Options["settings"]>, string>;

/**
 * The settings of one process, in a file, because they contain the session's token until the process has read it. In
 * the environment, every command could read the token: `/proc` shows the variables a process was started with.
 */
export class StartSettings {
  /** For the SDK's `settings`. */
  readonly file: string;
  readonly #settings: SdkSettings;
  #isForgotten = false;

  constructor(
    directory: string,
    { settings, gateway }: { settings: SdkSettings; gateway: Pick<GatewayAccess, "url" | "token"> },
  ) {
    this.file = join(directory, "settings.json");
    this.#settings = settings;
    // A token, not an API key: with a key, the CLI would request a policy from the real API at every start.
    const env = { ANTHROPIC_BASE_URL: gateway.url, ANTHROPIC_AUTH_TOKEN: gateway.token };
    this.#write({ ...settings, env });
  }

  /** Call this when the process has started and before it may run anything. */
  forget(): void {
    if (this.#isForgotten) return;
    this.#write(this.#settings);
    this.#isForgotten = true;
  }

  #write(settings: SdkSettings): void {
    writeFileSync(this.file, JSON.stringify(settings), { mode: 0o600 });
  }
}
