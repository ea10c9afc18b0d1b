import { describe, expect, test } from "vitest";
import { loadConfiguration } from "../../src/config/load.ts";
import { CREDENTIALS, readVariables } from "../../src/config/variables.ts";
import { messageOf } from "../../src/core/errors.ts";
import { upstreamFromEnvironment } from "../../src/gateway/upstreams.ts";
import { files } from "./files.ts";

const SECRET = "sk-ant-nobody-may-see-this";

describe("the .env file of a project", () => {
  test.each<[text: string, variables: Record<string, string>]>([
    ["", {}],
    ["A=1\nB=two words\n", { A: "1", B: "two words" }],
    ["\uFEFFA=1\r\nB=2\r\n", { A: "1", B: "2" }],
    ["# a comment\n\n  A=1 # more\n\t# again\nexport B=2\nexport\tC = 3", { A: "1", B: "2", C: "3" }],
    ["A=\"a # b\"\nB='c'#d\nC=`e`  # f\n", { A: "a # b", B: "c", C: "e" }],
    ['A="one\ntwo"\nB="x\\ny"\n', { A: "one\ntwo", B: "x\ny" }],
    ["A=\nB= \nC=3\n", { A: "", B: "", C: "3" }],
    ["A=x\"y\nB=it's\nC=a=b==\n", { A: 'x"y', B: "it's", C: "a=b==" }],
    ["A=1\nA=2\n", { A: "2" }],
  ])("%j is read", (text, variables) => {
    using tree = files({ ".env": text });
    expect(readVariables({}, tree.path).environment).toEqual(variables);
  });

  test.each([
    ["A=1\nB\n", "2 expected NAME=value, or # and a comment"],
    ["A=1\n\n=2\n", "3 expected NAME=value, or # and a comment"],
    ["A B=2\n", "1 expected NAME=value, or # and a comment"],
    ["X: y\n", "1 expected NAME=value, or # and a comment"],
    ["1A=2\n", "1 expected NAME=value, or # and a comment"],
    ["A=1\nB='x\nC=2\n", "2 B: expected a closing ' (found the end of the file)"],
    ['A="x\nB=1\nC="y"\n', '3 A: expected the end of the line after the closing "'],
    ['A="x"y\n', '1 A: expected the end of the line after the closing "'],
  ])("%j is refused with its line and without its text", (text, problem) => {
    using tree = files({ ".env": text });
    expect(() => readVariables({}, tree.path)).toThrow(
      expect.objectContaining({ code: "invalid_input", message: `${tree.at(".env")}:${problem}` }),
    );
  });

  test("never shows a secret in an error", () => {
    using tree = files({ ".env": `ANTHROPIC_API_KEY="${SECRET}" ${SECRET}\n` });
    expect(() => readVariables({}, tree.path)).toThrow(
      expect.objectContaining({
        message: expect.not.stringContaining(SECRET),
        data: { file: tree.at(".env"), line: 1 },
      }),
    );
  });

  test("that cannot be read is an error", () => {
    using tree = files({ ".env/": "" });
    expect(() => readVariables({}, tree.path)).toThrow(
      expect.objectContaining({
        code: "invalid_input",
        message: `Cannot read the variables in ${tree.at(".env")}: it is a directory.`,
      }),
    );
  });

  test("loses to the shell, also where the shell's variable is empty", () => {
    using tree = files({ ".env": "A=file\nB=file\nC=file\n" });
    expect(readVariables({ A: "shell", B: "", C: undefined, D: "shell" }, tree.path).environment).toEqual({
      A: "shell",
      B: "",
      C: "file",
      D: "shell",
    });
  });

  test("is read beside .capstan, not below it and not without a project", async () => {
    using tree = files({ "app/.capstan/": "", "app/.env": "A=1", "app/src/.env": "B=2", "other/.env": "C=3" });
    const environment = { HOME: tree.path };
    const inside = await loadConfiguration({ cwd: tree.at("app/src"), environment, flags: {} });
    expect(inside.environment).toEqual({ ...environment, A: "1" });
    const outside = await loadConfiguration({ cwd: tree.at("other"), environment, flags: {} });
    expect(outside.environment).toEqual(environment);
  });

  test("cannot move CAPSTAN_HOME", () => {
    using tree = files({ ".env": "CAPSTAN_HOME=/elsewhere\n" });
    expect(() => readVariables({}, tree.path)).toThrow(
      `CAPSTAN_HOME cannot be set in ${tree.at(".env")}. Set it in the shell.`,
    );
    expect(readVariables({ CAPSTAN_HOME: "/here" }, tree.path).environment["CAPSTAN_HOME"]).toBe("/here");
  });
});

function theft(path: string, credential: string): string {
  return (
    `${path} sets ANTHROPIC_BASE_URL, but ${credential} is not written there: a project must not choose where your ` +
    "credential is sent. Set ANTHROPIC_BASE_URL in the shell if you trust that address."
  );
}

describe("credentials", () => {
  test("are named with the place where they are set, never shown", async () => {
    using tree = files({ "app/.capstan/": "", "app/.env": `ANTHROPIC_AUTH_TOKEN=${SECRET}\nANTHROPIC_API_KEY=x\n` });
    const environment = { HOME: tree.path, ANTHROPIC_API_KEY: SECRET, CLAUDE_CODE_OAUTH_TOKEN: " " };
    const { values, credentials } = await loadConfiguration({ cwd: tree.at("app"), environment, flags: {} });
    expect(credentials).toEqual([
      { name: "ANTHROPIC_API_KEY", source: "shell" },
      { name: "ANTHROPIC_AUTH_TOKEN", source: tree.at("app/.env") },
    ]);
    expect(JSON.stringify({ values, credentials })).not.toContain(SECRET);
  });

  test("are the variables that the gateway looks for", async () => {
    const refusal = await upstreamFromEnvironment({}).catch(messageOf);
    const named = (typeof refusal === "string" ? refusal : "").match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? [];
    expect(CREDENTIALS).toEqual(named.flatMap((name) => [name, `${name}_FILE`]));
  });

  test("are not sent where a project's .env says, unless they are its own", () => {
    using tree = files({ ".env": "ANTHROPIC_BASE_URL=https://example.org\n" });
    using own = files({ ".env": `ANTHROPIC_BASE_URL=https://example.org\nANTHROPIC_API_KEY=${SECRET}\n` });
    using file = files({ ".env": "ANTHROPIC_BASE_URL=https://example.org\nANTHROPIC_API_KEY_FILE=/home/a/key\n" });
    expect(() => readVariables({ ANTHROPIC_API_KEY: SECRET }, tree.path)).toThrow(
      expect.objectContaining({ code: "invalid_input", message: theft(tree.at(".env"), "ANTHROPIC_API_KEY") }),
    );
    expect(() => readVariables({}, file.path)).toThrow(theft(file.at(".env"), "ANTHROPIC_API_KEY_FILE"));
    expect(() => readVariables({ ANTHROPIC_API_KEY: "of the shell" }, own.path)).toThrow(/is not written there/);

    expect(readVariables({}, tree.path).credentials).toEqual([]);
    expect(readVariables({ CLAUDE_CODE_OAUTH_TOKEN: "later" }, own.path).credentials[0]?.source).toBe(own.at(".env"));
    const trusted = { ANTHROPIC_API_KEY: SECRET, ANTHROPIC_BASE_URL: "https://example.org" };
    expect(readVariables(trusted, tree.path).address?.source).toBe("shell");
  });

  test.each([
    ["https://user:secret@example.org:8443/path?key=secret", "https://example.org:8443"],
    ["secret", "not a URL"],
  ])("in the address %s are not shown either", async (address, value) => {
    using tree = files();
    const environment = { HOME: tree.path, ANTHROPIC_BASE_URL: address };
    const { values } = await loadConfiguration({ cwd: tree.path, environment, flags: {} });
    expect(values.at(-1)).toEqual({
      key: "ANTHROPIC_BASE_URL",
      value,
      source: "environment ANTHROPIC_BASE_URL",
    });
  });
});
