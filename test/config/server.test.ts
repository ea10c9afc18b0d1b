import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { capacityOf, serverSettings } from "../../src/core/environment/server-schema.ts";
import { files } from "./files.ts";
import { loadTrusted } from "../support/trust.ts";

const GIBIBYTE = 1_073_741_824;

test("a machine takes on what its memory allows, and whatever the settings say instead", () => {
  expect(capacityOf({}, 8 * GIBIBYTE)).toMatchObject({ max_turns: 15, max_idle_processes: 7, max_queue: 100 });
  expect(capacityOf({}, GIBIBYTE / 2)).toMatchObject({ max_turns: 2, max_idle_processes: 1 });
  expect(capacityOf({ max_turns: 3, max_queue: 0 }, 8 * GIBIBYTE)).toMatchObject({ max_turns: 3, max_queue: 0 });
});

test("a project says nothing about the whole machine", async () => {
  using tree = files({ "app/.capstan/config.yaml": "server: { requests_per_minute: 1 }\n" });
  const loading = loadTrusted({ cwd: tree.at("app"), environment: { HOME: tree.path }, flags: {} });
  await expect(loading).rejects.toThrow(/config\.yaml:1:9 server: only allowed in the user's own settings file/);
});

test("docs/configuration.md has every field of the server", () => {
  const page = readFileSync("docs/configuration.md", "utf8");
  const section = /^### Server$([\s\S]*?)^###/m.exec(page)?.[1] ?? "";
  const told = [...section.matchAll(/^\| `([\w.]+)` \|/gm)].map(([, name]) => name);
  const { capacity, ...others } = z.toJSONSchema(serverSettings, { io: "input" }).properties ?? {};
  const ofCapacity = Object.keys((capacity as { properties: object }).properties).map((name) => `capacity.${name}`);
  expect(told).toEqual([...ofCapacity, ...Object.keys(others)]);
});
