import { z } from "zod";
import { type EnvironmentDefinition, environmentDefinition } from "../../core/environment/environment.ts";
import { problemWithVariable } from "../../core/auth/gateway-variables.ts";
import { union } from "./union.ts";

const { workspace, checkpoints, sandbox, limits, variables } = environmentDefinition.shape;
const { network, ...confinement } = sandbox.unwrap().shape;

/** An environment in one layer; omitted fields are not decided there. A workspace is always complete. */
export const layerEnvironment = z.strictObject({
  workspace: workspace.unwrap().optional(),
  checkpoints: optionalFields(checkpoints.unwrap().shape).optional(),
  sandbox: optionalFields(confinement)
    .extend({ network: optionalFields(network.unwrap().shape).optional() })
    .optional(),
  limits: limits.unwrap().optional(),
  variables: variables.unwrap().superRefine(refuseReserved).optional(),
});

/** The engine would refuse them when a process starts; this reports them at their position. */
function refuseReserved(given: Readonly<Record<string, string>>, context: z.core.$RefinementCtx): void {
  for (const name of Object.keys(given)) {
    const message = problemWithVariable(name);
    if (message !== undefined) context.addIssue({ code: "custom", path: [name], message });
  }
}

export type LayerEnvironment = z.infer<typeof layerEnvironment>;

type Undecided<Shape extends z.ZodRawShape> = {
  [Field in keyof Shape]: z.ZodOptional<Shape[Field] extends z.ZodDefault<infer Inner> ? Inner : Shape[Field]>;
};

/** The same fields, all optional and without defaults. */
function optionalFields<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Undecided<Shape>, z.core.$strict> {
  const fields = Object.entries(shape).map(([name, field]) => [
    name,
    z.optional(field instanceof z.ZodDefault ? field.unwrap() : field),
  ]);
  return z.strictObject(Object.fromEntries(fields) as Undecided<Shape>);
}

/**
 * The later layer wins, value by value; a workspace is replaced as a whole, and deny lists are joined. Values that
 * others may not set were already removed: see no-widening.ts.
 */
export function mergeEnvironment(below: EnvironmentDefinition, above: LayerEnvironment = {}): EnvironmentDefinition {
  return {
    workspace: above.workspace ?? below.workspace,
    checkpoints: {
      ...over(below.checkpoints, above.checkpoints),
      exclude: union(below.checkpoints.exclude, above.checkpoints?.exclude),
    },
    sandbox: {
      ...over(below.sandbox, above.sandbox),
      network: over(below.sandbox.network, above.sandbox?.network),
      deny_read: union(below.sandbox.deny_read, above.sandbox?.deny_read),
      deny_write: union(below.sandbox.deny_write, above.sandbox?.deny_write),
      hide_variables: union(below.sandbox.hide_variables, above.sandbox?.hide_variables),
    },
    limits: over(below.limits, above.limits),
    variables: { ...below.variables, ...above.variables },
  };
}

/** Undefined values in `above` are not decided there. */
function over<Below extends object>(below: Below, above: object = {}): Below {
  return { ...below, ...Object.fromEntries(Object.entries(above).filter(([, value]) => value !== undefined)) };
}
