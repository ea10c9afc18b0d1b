import { type ProviderStatus, providerStatuses } from "../../app/credentials/credential-status.ts";
import { testCredential } from "../../app/credentials/credential-test.ts";
import { type Configuration, loadConfiguration } from "../../config/load.ts";
import { DEFAULT_MODEL } from "../../config/settings/settings.ts";
import type { AuthProvider } from "../../core/auth/auth-schema.ts";
import { CapstanError } from "../../core/errors.ts";
import { isAlias } from "../../core/money/pricing.ts";
import { colour, count } from "../terminal/text.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";
import { tellWithheld } from "../trust/view.ts";

export interface StatusFlags {
  readonly json?: boolean;
}

export async function status({ json }: StatusFlags): Promise<void> {
  const statuses = await providerStatuses(sourcesOf(await configurationHere()));
  if (json === true) return statuses.forEach((one) => print(hiddenFreeJson(one)));
  for (const one of statuses) print(lineOf(one));
  if (!statuses.some(({ isDefault }) => isDefault))
    print("\nNone is set, so that sessions need --rehearsal. Store a key with capstan auth login.");
}

function unusable({ isDefault, problem }: ProviderStatus): string {
  if (problem !== undefined) return isDefault ? "used, but sessions are refused" : "cannot be used";
  return isDefault ? "used, but incomplete" : "not set up";
}

function lineOf(one: ProviderStatus): string {
  const { provider, title, isDefault, isComplete, found, missing, ends, problem, ignored } = one;
  const mark = isDefault ? (isComplete ? colour.green("✓") : colour.red("✗")) : " ";
  const state = isComplete ? (isDefault ? "used" : "ready") : unusable(one);
  const facts = [
    ...found.map(({ what, where }) => (where.startsWith(what) ? where : `${what}: ${where}`)),
    ...(ends === undefined ? [] : [`ends in ${ends}`]),
    ...(problem === undefined ? [] : [problem]),
    ...(ignored === undefined ? [] : [ignored]),
    ...(isDefault || found.length > 0
      ? missing.map(({ what, how }) => `it lacks ${what}: ${how}`)
      : // How to get what nobody has asked for would only be noise.
        [`it lacks ${missing.map(({ what }) => what).join(", ")}`]),
  ];
  const head = `${mark} ${colour.bold(provider.padEnd(11))} ${title}, ${state}`;
  return [head, ...facts.map((fact) => `    ${colour.dim(fact)}`)].join("\n");
}

export interface TestFlags {
  readonly provider?: AuthProvider;
  readonly model?: string;
  readonly json?: boolean;
}

export async function test({ provider, model, json }: TestFlags): Promise<void> {
  const configuration = await configurationHere();
  const { agent } = configuration;
  const asked = { ...sourcesOf(configuration), provider, model: model ?? realName(agent.model) };
  try {
    const result = await testCredential(asked);
    if (json === true) return print(hiddenFreeJson({ ok: true, ...result }));
    const tokens = `${count(result.input_tokens)} tokens in, ${count(result.output_tokens)} out`;
    print(`${colour.green("✓")} ${result.provider}: ${result.model} answered in ${result.ms} ms (${tokens})`);
  } catch (thrown) {
    if (json !== true || !(thrown instanceof CapstanError)) throw thrown;
    const { code, message, data } = thrown;
    print(hiddenFreeJson({ ok: false, ...(provider !== undefined && { provider }), ...data, code, message }));
    process.exitCode = thrown.exitCode;
  }
}

/** The API itself knows no words such as `opus`; the engine makes names of them. */
function realName(model: string): string {
  return isAlias(model) ? DEFAULT_MODEL : model;
}

async function configurationHere(): Promise<Configuration> {
  const configuration = await loadConfiguration({ cwd: process.cwd(), environment: process.env, flags: {} });
  // A key in a file that is not trusted would seem to be lost.
  tellWithheld(configuration);
  return configuration;
}

function sourcesOf({ home, environment, settings, dotEnv }: Configuration) {
  return { home, environment, auth: settings.auth, dotEnv };
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
