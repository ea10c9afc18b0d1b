import { describe, expect, test } from "vitest";
import { BUILTIN_NAMES, traitsOf } from "../../src/engines/builtin-tools.ts";
import { hostToolName, readToolName } from "../../src/engines/tool-names.ts";

describe("a tool's name", () => {
  test.each([
    ["Bash", { kind: "builtin", name: "Bash" }],
    ["mcp__capstan__note", { kind: "host", name: "note" }],
    ["mcp__capstan__two__parts", { kind: "host", name: "two__parts" }],
    ["mcp__files__read", { kind: "mcp", server: "files", tool: "read", name: "mcp__files__read" }],
    ["mcp__files__read__all", { kind: "mcp", server: "files", tool: "read__all", name: "mcp__files__read__all" }],
    ["mcp__capstan2__note", { kind: "mcp", server: "capstan2", tool: "note", name: "mcp__capstan2__note" }],
    ["mcp__my_capstan__note", { kind: "mcp", server: "my_capstan", tool: "note", name: "mcp__my_capstan__note" }],
    ["mcp__", { kind: "builtin", name: "mcp__" }],
    ["mcp__files", { kind: "builtin", name: "mcp__files" }],
  ])("%s loses its prefix only when our own server carries it", (engineName, expected) => {
    expect(readToolName(engineName)).toEqual(expected);
  });

  test.each(["note", "two__parts", "with-dash"])("of the host's tool %s is read back as it was given", (name) => {
    expect(readToolName(hostToolName(name))).toEqual({ kind: "host", name });
  });
});

describe("a tool of the CLI's own", () => {
  test("that nobody said anything about may do anything, and is not waved through", () => {
    expect(traitsOf("Telepathy")).toEqual({ readOnly: false, edit: false, safeInternal: false });
    expect(traitsOf("mcp__capstan__Read")).toEqual({ readOnly: false, edit: false, safeInternal: false });
  });

  test("that runs commands or reaches the network is neither read-only nor safe", () => {
    for (const tool of ["Bash", "WebFetch", "WebSearch"])
      expect(traitsOf(tool)).toEqual({ readOnly: false, edit: false, safeInternal: false });
  });

  test("that changes files is an edit and nothing else", () => {
    const edits = BUILTIN_NAMES.filter((tool) => traitsOf(tool).edit);
    expect(edits).toEqual(["Write", "Edit", "NotebookEdit"]);
    for (const tool of edits) expect(traitsOf(tool)).toMatchObject({ readOnly: false, safeInternal: false });
  });

  test("for structured output is not one that an agent can be given", () => {
    expect(BUILTIN_NAMES).not.toContain("StructuredOutput");
  });
});
