import type { EnvironmentDefinition, SandboxSettings } from "../../core/environment/environment.ts";
import { CapstanError } from "../../core/errors.ts";
import type { SandboxDirectories } from "../../core/environment/sandbox.ts";
import type { LayerEnvironment } from "../settings/environment.ts";
import { type Layer, mergeLayers } from "../settings/layers.ts";
import { BOUND_BY_USER } from "./fields.ts";
import { type Widening, withinBounds } from "./judge.ts";

/** Where paths in settings lead. */
export type SettingDirectories = Pick<SandboxDirectories, "cwd" | "home" | "capstanHome" | "temporary" | "secretFiles">;

export type SandboxLayer = NonNullable<LayerEnvironment["sandbox"]>;

/** A value of a project's settings or an agent file that has no effect. */
export interface Withheld extends Widening {
  /** The file that contains it. */
  readonly source: string;
  /** The file is not trusted, or the user's own settings say otherwise. */
  readonly reason: "untrusted" | "user settings";
}

/**
 * A project's settings and agents are written by others, trusted or not, and must not open what the user closed: each
 * such layer keeps only values that are no wider than the layers below it. Throws if it would widen a sandbox that the
 * user requires. It may set what the user does not, and with `projects_may_loosen` also the rest.
 */
export async function withoutWidening(
  layers: readonly Layer[],
  places: SettingDirectories,
): Promise<{ readonly layers: readonly Layer[]; readonly loosened: readonly Withheld[] }> {
  const users = layers.filter(({ by }) => by === "user").map(({ values }) => values);
  const mayLoosen = users.some(({ projects_may_loosen: may }) => may === true);
  const isAsked = !mayLoosen && users.some(({ environment }) => (environment?.sandbox?.mode ?? "off") !== "off");
  const result: Layer[] = [];
  const loosened: Withheld[] = [];
  for (const layer of layers) {
    if (layer.by !== "others") {
      result.push(layer);
      continue;
    }
    const { kept: values, widens } = mayLoosen
      ? { kept: layer.values, widens: [] }
      : withinBounds(layer.values, users[0] ?? {}, BOUND_BY_USER);
    loosened.push(...widens.map((one) => ({ ...one, source: layer.source, reason: "user settings" as const })));
    const { environment } = values;
    if (environment === undefined) {
      result.push({ ...layer, values });
      continue;
    }
    const { environment: below } = mergeLayers(result);
    if (isAsked) requireNarrow(layer, environment.sandbox ?? {}, below.sandbox);
    const said = result.filter(({ by }) => by !== undefined).map((one) => one.values.environment);
    const kept = await narrowEnvironment(environment, {
      below,
      said,
      mayLoosen,
      places: isAsked ? places : withOpenTemporary(places),
    });
    result.push({ ...layer, values: { ...values, environment: kept } });
  }
  return { layers: result, loosened };
}

/** A project that asks for a sandbox itself may say which temporary files it includes. */
function withOpenTemporary(places: SettingDirectories): SettingDirectories {
  return { ...places, temporary: places.capstanHome };
}

function requireNarrow({ source }: Layer, above: SandboxLayer, below: SandboxSettings): void {
  const lists = {
    "network.allow": [above.network?.allow, below.network.allow],
    allow_write: [above.allow_write, below.allow_write],
    excluded_commands: [above.excluded_commands, below.excluded_commands],
    unix_sockets: [above.unix_sockets, below.unix_sockets],
  } as const;
  const added = Object.entries(lists).flatMap(([field, [given = [], known]]) =>
    given.filter((entry) => !known.includes(entry)).map((entry) => `${field}: ${entry}`),
  );
  if (above.auto_allow_sandboxed === true && !below.auto_allow_sandboxed) added.push("auto_allow_sandboxed: true");
  if (added.length === 0) return;
  throw new CapstanError(
    "invalid_input",
    `${source}: only your own settings may widen a sandbox that they require. Add these there as well, or remove them here: ${added.map((one) => `environment.sandbox.${one}`).join("; ")}`,
    { data: { source, added } },
  );
}

interface Below {
  readonly below: EnvironmentDefinition;
  /** Set by each layer below except the built-in one, which expresses no wish. */
  readonly said: readonly (LayerEnvironment | undefined)[];
  /** Only what is closed to every agent stays closed. */
  readonly mayLoosen: boolean;
  readonly places: SettingDirectories;
}

const SANDBOX = ["off", "preferred", "required"] as const;
const CHECKPOINTS = ["off", "on", "required"] as const;

async function narrowEnvironment(
  above: LayerEnvironment,
  { below, said, mayLoosen, places }: Below,
): Promise<LayerEnvironment> {
  const { sandbox, checkpoints, limits } = above;
  if (mayLoosen)
    return {
      ...above,
      ...(sandbox && { sandbox: { ...sandbox, ...(await openedBy(sandbox, below.sandbox, places)) } }),
    };
  const wished = said.findLast((layer) => layer?.checkpoints?.mode !== undefined)?.checkpoints?.mode;
  return {
    ...above,
    ...(checkpoints && { checkpoints: { ...checkpoints, mode: stricter(CHECKPOINTS, wished, checkpoints.mode) } }),
    ...(sandbox && {
      sandbox: {
        ...sandbox,
        mode: stricter(SANDBOX, below.sandbox.mode, sandbox.mode),
        ...(await openedBy(sandbox, below.sandbox, places)),
      },
    }),
    ...(limits && {
      limits: {
        memory_bytes: lower(below.limits.memory_bytes, limits.memory_bytes),
        processes: lower(below.limits.processes, limits.processes),
        cpu_seconds: lower(below.limits.cpu_seconds, limits.cpu_seconds),
      },
    }),
  };
}

/** Undefined if the layer below is as strict, so that the value remains that layer's. */
function stricter<Mode>(modes: readonly Mode[], below: Mode | undefined, above: Mode | undefined): Mode | undefined {
  if (above === undefined || below === undefined) return above;
  return modes.indexOf(above) > modes.indexOf(below) ? above : undefined;
}

function lower(below: number | undefined, above: number | undefined): number | undefined {
  return below === undefined || above === undefined || above < below ? above : undefined;
}

/** Loaded here because few users need it. */
async function openedBy(
  sandbox: SandboxLayer,
  below: SandboxSettings,
  places: SettingDirectories,
): Promise<Pick<SandboxLayer, "allow_read" | "allow_write">> {
  if (sandbox.allow_read === undefined && sandbox.allow_write === undefined) return {};
  const { exceptions } = await import("./sandbox-exceptions.ts");
  return exceptions(sandbox, below, places);
}
