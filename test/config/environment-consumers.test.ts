import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { loadConfiguration } from "../../src/config/load.ts";
import { environmentDefinition } from "../../src/core/environment.ts";
import { files } from "./files.ts";

/** What a workspace must have beside the field that is looked at. */
const LEAST = {
  "in-place": "",
  copy: "mounts: [{ source: . }]",
  worktree: "",
  clone: "",
} as const;

/** kind and field → a value that is not the default, as it is written and as it arrives. */
const WORKSPACE: Readonly<Record<string, readonly [written: string, value: unknown]>> = {
  "in-place.when_busy": ["refuse", "refuse"],
  "copy.mounts.*.source": ["lib", "lib"],
  "copy.mounts.*.target": ["lib", "lib"],
  "copy.mounts.*.include": ['["*.ts"]', ["*.ts"]],
  "copy.mounts.*.exclude": ['["*.ts"]', ["*.ts"]],
  "copy.mounts.*.gitignore": ["true", true],
  "copy.mounts.*.max_bytes": ["1", 1],
  "copy.mounts.*.max_files": ["1", 1],
  "copy.mounts.*.symlinks": ["follow", "follow"],
  "copy.mounts.*.read_only": ["true", true],
  "copy.max_bytes": ["1", 1],
  "copy.max_files": ["1", 1],
  "worktree.base": ["main", "main"],
  "worktree.branch": ["work", "work"],
  "clone.from": ["/srv/shop", "/srv/shop"],
  "clone.ref": ["v1", "v1"],
  "clone.depth": ["1", 1],
};

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly oneOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly const?: unknown;
}

const { properties: environment = {} } = z.toJSONSchema(environmentDefinition, { io: "input" }) as JsonSchema;

function fieldsOf({ properties, items }: JsonSchema, path: readonly string[]): string[] {
  if (items?.properties !== undefined) return fieldsOf(items, [...path, "*"]);
  if (properties === undefined) return [path.join(".")];
  return Object.entries(properties).flatMap(([key, schema]) =>
    schema.const === undefined ? fieldsOf(schema, [...path, key]) : [],
  );
}

const ofWorkspaces = (environment["workspace"]?.oneOf ?? []).flatMap((shape) =>
  fieldsOf(shape, [String(shape.properties?.["kind"]?.const)]),
);

describe("every field of a workspace", () => {
  test("is known here", () => {
    expect(ofWorkspaces).toEqual(Object.keys(WORKSPACE));
  });

  test.each(Object.entries(WORKSPACE))(
    "%s arrives, and is not there without being written",
    async (field, [written, value]) => {
      const [kind = "", ...path] = field.split(".");
      const name = path.at(-1) ?? "";
      const given =
        path[0] === "mounts"
          ? [`mounts: [{ ${name === "source" ? "" : "source: ., "}${name}: ${written} }]`]
          : [LEAST[kind as keyof typeof LEAST], `${name}: ${written}`];
      const without = [LEAST[kind as keyof typeof LEAST]];
      const place = path.map((step) => (step === "*" ? "0" : step));
      expect(await workspaceOf(kind, given)).toHaveProperty(place, value);
      expect(await workspaceOf(kind, without)).not.toHaveProperty(place, value);
    },
  );
});

async function workspaceOf(kind: string, fields: readonly string[]): Promise<unknown> {
  const inner = [`kind: ${kind}`, ...fields.filter((field) => field !== "")].join(", ");
  using tree = files({ "app/.capstan/config.yaml": `environment: { workspace: { ${inner} } }\n` });
  const options = { cwd: tree.at("app"), environment: { HOME: tree.path }, flags: {} };
  return (await loadConfiguration(options)).sessionEnvironment.workspace;
}

/** part of the environment → where the source reads it. */
const READERS: Readonly<Record<string, readonly string[]>> = {
  workspace: ["workspace", "runtime"],
  checkpoints: ["workspace", "runtime"],
  sandbox: ["core/sandbox.ts"],
  limits: ["engines"],
  variables: ["runtime"],
};

function sourceOf(places: readonly string[]): string {
  return readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && places.some((place) => file.startsWith(place)))
    .map((file) => readFileSync(`src/${file}`, "utf8"))
    .join("\n");
}

test("every part of the environment has a reader", () => {
  expect(Object.keys(environment)).toEqual(Object.keys(READERS));
});

const ofParts = Object.entries(environment).flatMap(([part, schema]) =>
  (part === "workspace" ? ofWorkspaces : fieldsOf(schema, [])).map((field) => [part, field] as const),
);

test.each(ofParts)("environment.%s %s is read outside of the configuration", (part, field) => {
  // `variables` has no fields of its own.
  const name = field.split(".").at(-1) || part;
  expect(sourceOf(READERS[part] ?? [])).toMatch(new RegExp(`(?:\\.|\\{ |, )${name}\\b|\\b${name}[:,] `));
});
