import { z } from "zod";
import { type EnvironmentDefinition, environmentDefinition, type SandboxSettings } from "../core/environment.ts";
import { union } from "./union.ts";

const { workspace, checkpoints, sandbox, limits, variables } = environmentDefinition.shape;
const { network, ...confinement } = sandbox.unwrap().shape;

/** An environment as one layer gives it: what it leaves out is not decided there. A workspace is given as a whole. */
export const layerEnvironment = z.strictObject({
  workspace: workspace.unwrap().optional(),
  checkpoints: undecided(checkpoints.unwrap().shape).optional(),
  sandbox: undecided(confinement)
    .extend({ network: undecided(network.unwrap().shape).optional() })
    .optional(),
  limits: limits.unwrap().optional(),
  variables: variables.unwrap().optional(),
});

export type LayerEnvironment = z.infer<typeof layerEnvironment>;

type Undecided<Shape extends z.ZodRawShape> = {
  [Field in keyof Shape]: z.ZodOptional<Shape[Field] extends z.ZodDefault<infer Inner> ? Inner : Shape[Field]>;
};

/** The same fields, none of them required or filled in. */
function undecided<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Undecided<Shape>, z.core.$strict> {
  const fields = Object.entries(shape).map(([name, field]) => [
    name,
    z.optional(field instanceof z.ZodDefault ? field.unwrap() : field),
  ]);
  return z.strictObject(Object.fromEntries(fields) as Undecided<Shape>);
}

/**
 * The later layer wins, value by value; a workspace is replaced as a whole, lists that deny grow. `isFlag`: the later
 * layer is what a person said for this one session.
 */
export function mergeEnvironment(
  below: EnvironmentDefinition,
  above: LayerEnvironment = {},
  { isFlag }: { readonly isFlag: boolean },
): EnvironmentDefinition {
  return {
    workspace: above.workspace ?? below.workspace,
    checkpoints: {
      ...below.checkpoints,
      ...above.checkpoints,
      exclude: union(below.checkpoints.exclude, above.checkpoints?.exclude),
    },
    sandbox: {
      ...below.sandbox,
      ...above.sandbox,
      mode: modeOf(below.sandbox.mode, above.sandbox?.mode, isFlag),
      network: { ...below.sandbox.network, ...above.sandbox?.network },
      deny_read: union(below.sandbox.deny_read, above.sandbox?.deny_read),
      deny_write: union(below.sandbox.deny_write, above.sandbox?.deny_write),
      hide_variables: union(below.sandbox.hide_variables, above.sandbox?.hide_variables),
    },
    limits: { ...below.limits, ...above.limits },
    variables: { ...below.variables, ...above.variables },
  };
}

type SandboxMode = SandboxSettings["mode"];
const STRICTNESS: readonly SandboxMode[] = ["off", "preferred", "required"];

/**
 * The stricter one: what a project's settings or an agent say was written by others, and must not take away the sandbox
 * that a user relies on. A flag is the user's own word.
 */
function modeOf(below: SandboxMode, above: SandboxMode | undefined, isFlag: boolean): SandboxMode {
  if (above === undefined) return below;
  return isFlag || STRICTNESS.indexOf(above) > STRICTNESS.indexOf(below) ? above : below;
}
