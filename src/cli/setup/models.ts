import { loadConfiguration } from "../../config/load.ts";
import { CapstanError } from "../../core/errors.ts";
import { type ChosenServer, chosenServer } from "../target/server.ts";
import { table } from "../terminal/text.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

interface ModelList {
  readonly data: readonly { readonly id: string; readonly display_name?: string; readonly created_at?: string }[];
}

export async function models(flags: { readonly json?: boolean }): Promise<void> {
  const server = await chosenServer();
  const data = server === undefined ? await localModels() : await serverModels(server);
  if (flags.json === true) process.stdout.write(data.map((model) => `${hiddenFreeJson(model)}\n`).join(""));
  else
    process.stdout.write(
      `${table(
        ["MODEL", "SINCE", "NAME"],
        data.map(({ id, created_at: since, display_name: name }) => [id, since?.slice(0, 10) ?? "", name ?? ""]),
      )}\n`,
    );
}

async function serverModels({ client }: ChosenServer): Promise<ModelList["data"]> {
  const { awaitServer } = await import("../target/remote-failure.ts");
  return awaitServer(client.models());
}

async function localModels(): Promise<ModelList["data"]> {
  const { listModels } = await import("../../app/credentials/models.ts");
  const { home, environment, dotEnv, settings, credentials } = await loadConfiguration({
    cwd: process.cwd(),
    environment: process.env,
    flags: {},
  });
  // Thrown here without mentioning --rehearsal: the scripted model has no list.
  if (credentials.length === 0)
    throw new CapstanError(
      "credential_missing",
      "The model API needs a credential to list models. Set ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or CLAUDE_CODE_OAUTH_TOKEN, or run capstan auth login. To see all options: capstan auth status",
    );
  const { data }: ModelList = await listModels({ home, environment, dotEnv, auth: settings.auth });
  if (data.length === 0)
    throw new CapstanError("model_failed", "The model API returned no models for this credential.");
  return data;
}
