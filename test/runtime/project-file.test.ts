import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import { withProjectFile } from "../../src/runtime/recovery/project-file.ts";
import { agent, temporaryDirectory } from "../support/host.ts";

const plain = parseAgent(agent());
const reader = parseAgent(agent({ setting_sources: ["project"] }));

describe("the CLAUDE.md of a workspace", () => {
  test("is part of the instructions when the agent wants it, and told when it does not", () => {
    using directory = temporaryDirectory();
    writeFileSync(join(directory.path, "CLAUDE.md"), "Use tabs.\n");
    const fact = { type: "capstan.project_file_found", path: "CLAUDE.md", bytes: 10 };
    expect(withProjectFile(plain, directory.path)).toEqual({ agent: plain, facts: [{ ...fact, used: false }] });
    const { agent: told, facts } = withProjectFile(reader, directory.path);
    expect(told.instructions).toBe("You are a test agent.\n\nThe file CLAUDE.md of the workspace says:\n\nUse tabs.");
    expect(facts).toEqual([{ ...fact, used: true }]);
  });

  test("may lie in .claude, and be a link to another file of the workspace", () => {
    using directory = temporaryDirectory();
    mkdirSync(join(directory.path, ".claude"));
    writeFileSync(join(directory.path, "AGENTS.md"), "Use tabs.");
    symlinkSync("../AGENTS.md", join(directory.path, ".claude", "CLAUDE.md"));
    expect(withProjectFile(reader, directory.path)).toMatchObject({
      agent: { instructions: expect.stringContaining("Use tabs.") as string },
      facts: [{ path: ".claude/CLAUDE.md" }],
    });
  });

  test("is not missed where there is none, or something else of that name", () => {
    using directory = temporaryDirectory();
    expect(withProjectFile(reader, directory.path)).toEqual({ agent: reader, facts: [] });
    execFileSync("mkfifo", [join(directory.path, "CLAUDE.md")]);
    mkdirSync(join(directory.path, ".claude", "CLAUDE.md"), { recursive: true });
    expect(withProjectFile(reader, directory.path)).toEqual({ agent: reader, facts: [] });
  });

  test("must not lead out of the workspace, which the host could read and the agent could not", () => {
    using directory = temporaryDirectory();
    const workspace = join(directory.path, "workspace");
    mkdirSync(workspace);
    writeFileSync(join(directory.path, "secret"), "s");
    symlinkSync("../secret", join(workspace, "CLAUDE.md"));
    expect(() => withProjectFile(reader, workspace)).toThrow(
      expect.objectContaining({
        code: "workspace_invalid",
        message: expect.stringContaining("CLAUDE.md leads out") as string,
      }),
    );
  });

  test("has a limit, which the error names", () => {
    using directory = temporaryDirectory();
    writeFileSync(join(directory.path, "CLAUDE.md"), "x".repeat(65_537));
    expect(() => withProjectFile(reader, directory.path)).toThrow(/has 65537 bytes, and may have 65536/);
    expect(withProjectFile(plain, directory.path).facts).toMatchObject([{ bytes: 65_537 }]);
  });
});
