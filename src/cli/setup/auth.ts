import { type ProviderStatus, providerStatuses } from "../../app/credentials/credential-status.ts";
import { testCredential } from "../../app/credentials/credential-test.ts";
import { type Configuration, loadConfiguration } from "../../config/load.ts";
import { DEFAULT_MODEL } from "../../config/settings/settings.ts";
import type { AuthProvider } from "../../core/auth/auth-schema.ts";
import { CapstanError } from "../../core/errors.ts";
import { isAlias } from "../../core/money/pricing.ts";
import { color, count } from "../terminal/text.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";
import { reportWithheld } from "../trust/trust-view.ts";

export interface StatusFlags {
  readonly json?: boolean;
}

export async function status({ json }: StatusFlags): Promise<void> {
  const statuses = await providerStatuses(sourcesOf(await loadHere()));
  if (json === true) return statuses.forEach((one) => print(hiddenFreeJson(one)));
  for (const one of statuses) print(lineOf(one));
  if (!statuses.some(({ isDefault }) => isDefault))
    print("\nNo credential is set, so sessions need --rehearsal. To save one: capstan auth login");
}

function unusable({ isDefault, problem }: ProviderStatus): string {
  if (problem !== undefined) return isDefault ? "active, but sessions will fail" : "not usable";
  return isDefault ? "active, but incomplete" : "not set up";
}

function lineOf(one: ProviderStatus): string {
  const { provider, title, isDefault, isComplete, found, missing, ends, problem, ignored } = one;
  const mark = isDefault ? (isComplete ? color.green("✓") : color.red("✗")) : " ";
  const state = isComplete ? (isDefault ? "active" : "ready") : unusable(one);
  const facts = [
    ...found.map(({ what, where }) => (where.startsWith(what) ? where : `${what}: ${where}`)),
    ...(ends === undefined ? [] : [`ends in ${ends}`]),
    ...(problem === undefined ? [] : [problem]),
    ...(ignored === undefined ? [] : [ignored]),
    ...(isDefault || found.length > 0
      ? missing.map(({ what, how }) => `missing ${what}: ${how}`)
      : // Instructions for unused providers would be noise.
        [`missing ${missing.map(({ what }) => what).join(", ")}`]),
  ];
  const head = `${mark} ${color.bold(provider.padEnd(11))} ${title}, ${state}`;
  return [head, ...facts.map((fact) => `    ${color.dim(fact)}`)].join("\n");
}

export interface TestCredentialFlags {
  readonly provider?: AuthProvider;
  readonly model?: string;
  readonly json?: boolean;
}

export async function testProviders({ provider, model, json }: TestCredentialFlags): Promise<void> {
  const configuration = await loadHere();
  const { agent } = configuration;
  const request = { ...sourcesOf(configuration), provider, model: model ?? realName(agent.model) };
  try {
    const result = await testCredential(request);
    if (json === true) return print(hiddenFreeJson({ ok: true, ...result }));
    const tokens = `${count(result.input_tokens)} tokens in, ${count(result.output_tokens)} out`;
    print(`${color.green("✓")} ${result.provider}: ${result.model} answered in ${result.ms} ms (${tokens})`);
  } catch (thrown) {
    if (json !== true || !(thrown instanceof CapstanError)) throw thrown;
    const { code, message, data } = thrown;
    print(hiddenFreeJson({ ok: false, ...(provider !== undefined && { provider }), ...data, code, message }));
    process.exitCode = thrown.exitCode;
  }
}

/** The API does not know aliases such as `opus`, which the engine resolves. */
function realName(model: string): string {
  return isAlias(model) ? DEFAULT_MODEL : model;
}

async function loadHere(): Promise<Configuration> {
  const configuration = await loadConfiguration({ cwd: process.cwd(), environment: process.env, flags: {} });
  // Explains why a key in an untrusted file is missing.
  reportWithheld(configuration);
  return configuration;
}

function sourcesOf({ home, environment, settings, dotEnv }: Configuration) {
  return { home, environment, auth: settings.auth, dotEnv };
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
