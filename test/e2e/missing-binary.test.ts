import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/host.ts";

/** An installation of the built package as `npm install --omit=optional` leaves it: without the CLI binary. */
function installWithoutBinary(directory: string): void {
  const modules = join(directory, "node_modules");
  mkdirSync(join(modules, "@anthropic-ai"), { recursive: true });
  for (const name of readdirSync("node_modules"))
    if (name !== "@anthropic-ai" && !name.startsWith("."))
      symlinkSync(resolve("node_modules", name), join(modules, name));
  const sdk = join("@anthropic-ai", "claude-agent-sdk");
  cpSync(join("node_modules", sdk), join(modules, sdk), { recursive: true });
  symlinkSync(resolve("node_modules", "@anthropic-ai", "sdk"), join(modules, "@anthropic-ai", "sdk"));
  mkdirSync(join(modules, "capstan"));
  cpSync("dist", join(modules, "capstan", "dist"), { recursive: true });
  cpSync("package.json", join(modules, "capstan", "package.json"));
}

const PROGRAM = `
import { openHost } from "capstan";
await using host = await openHost({ home: "home", rehearsal: true });
const session = await host.startSession({ agent: { name: "a", model: "claude-opus-4-8" }, cwd: "work" });
await session.send("hello").result().catch((error) => console.log(error.code, error.message));
`;

test("a missing CLI binary is named, with how to get it", () => {
  using directory = temporaryDirectory();
  installWithoutBinary(directory.path);
  writeFileSync(join(directory.path, "program.mts"), PROGRAM);
  mkdirSync(join(directory.path, "work"));
  const { stdout, stderr } = spawnSync(process.execPath, ["program.mts"], {
    cwd: directory.path,
    env: { PATH: process.env["PATH"] ?? "" },
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^engine_missing .*--omit=optional/);
});
