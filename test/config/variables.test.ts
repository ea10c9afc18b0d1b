import { chmodSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isCredentialVariable } from "../../src/config/variables/credential-names.ts";
import { readStoredCredentials } from "../../src/config/variables/stored-credentials.ts";
import { readVariables } from "../../src/config/variables/variables.ts";
import { files } from "./files.ts";
import { loadTrusted } from "../support/trust.ts";

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
    const inside = await loadTrusted({ cwd: tree.at("app/src"), environment, flags: {} });
    expect(inside.environment).toEqual({ ...environment, A: "1" });
    const outside = await loadTrusted({ cwd: tree.at("other"), environment, flags: {} });
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

function load(tree: ReturnType<typeof files>) {
  return loadTrusted({ cwd: tree.at("app"), environment: { HOME: tree.path }, flags: {} });
}

describe("auth", () => {
  test.each(["base_url: https://example.org", "credential_command: cat key"])(
    "of a project names a provider and no more: not %s",
    async (line) => {
      using tree = files({ "app/.capstan/config.yaml": `auth:\n  provider: auth_token\n  ${line}\n` });
      await expect(load(tree)).rejects.toMatchObject({
        code: "invalid_input",
        message: expect.stringContaining("only allowed in the user's own settings file; a project may name a provider"),
      });
    },
  );

  test("keeps address and command for the provider that they stand beside", async () => {
    const own = "auth: { provider: auth_token, base_url: https://example.org }\n";
    using same = files({ ".capstan/config.yaml": own, "app/.capstan/config.yaml": "auth: { provider: auth_token }\n" });
    using other = files({ ".capstan/config.yaml": own, "app/.capstan/config.yaml": "auth: { provider: bedrock }\n" });
    expect((await load(same)).settings.auth).toEqual({ provider: "auth_token", base_url: "https://example.org" });
    expect((await load(other)).settings.auth).toEqual({ provider: "bedrock" });
  });

  test.each([
    ["base_url: https://example.org", "also set provider, to say which one it is for"],
    ["credential_command: cat key", "also set provider, to say which one it is for"],
    ["credential_command: cat key\n  provider: vertex", "vertex needs no secret"],
    ["provider: azure", "bedrock"],
  ])("%j is refused", async (lines, says) => {
    using tree = files({ "app/": "", ".capstan/config.yaml": `auth:\n  ${lines}\n` });
    await expect(load(tree)).rejects.toMatchObject({ message: expect.stringContaining(says) });
  });
});

describe("credentials", () => {
  test("are named with the place where they are set, never shown", async () => {
    using tree = files({ "app/.capstan/": "", "app/.env": `ANTHROPIC_AUTH_TOKEN=${SECRET}\nANTHROPIC_API_KEY=x\n` });
    const environment = { HOME: tree.path, ANTHROPIC_API_KEY: SECRET, CLAUDE_CODE_OAUTH_TOKEN: " " };
    const configuration = await loadTrusted({ cwd: tree.at("app"), environment, flags: {} });
    const { credentials } = configuration;
    const values = await configuration.values();
    expect(credentials).toEqual([
      { name: "ANTHROPIC_API_KEY", source: "shell" },
      { name: "ANTHROPIC_AUTH_TOKEN", source: tree.at("app/.env") },
    ]);
    expect(JSON.stringify({ values, credentials })).not.toContain(SECRET);
  });

  test("of the provider that is used come first, those of a cloud only when it is chosen", async () => {
    using tree = files({ "app/.capstan/": "", "app/.env": "AWS_ACCESS_KEY_ID=a\nCLAUDE_CODE_USE_BEDROCK=1\n" });
    const environment = { HOME: tree.path, ANTHROPIC_API_KEY: SECRET };
    const chosen = { ...environment, CLAUDE_CODE_USE_BEDROCK: "1" };
    const inside = await loadTrusted({ cwd: tree.at("app"), environment: chosen, flags: {} });
    expect(inside.credentials).toEqual([
      { name: "ANTHROPIC_API_KEY", source: "shell" },
      { name: "AWS_ACCESS_KEY_ID", source: tree.at("app/.env") },
      { name: "CLAUDE_CODE_USE_BEDROCK", source: "shell" },
    ]);
    // A project's switch does not count beside a key of the user's.
    const ignored = await loadTrusted({ cwd: tree.at("app"), environment, flags: {} });
    expect(ignored.credentials).toEqual([{ name: "ANTHROPIC_API_KEY", source: "shell" }]);
    const shell = { ...environment, AWS_ACCESS_KEY_ID: "a" };
    const outside = await loadTrusted({ cwd: tree.path, environment: shell, flags: {} });
    expect(outside.credentials).toEqual([{ name: "ANTHROPIC_API_KEY", source: "shell" }]);
  });

  test("may be a command, or what login stored", async () => {
    using tree = files({
      ".capstan/config.yaml": "auth: { provider: api_key, credential_command: pass show key }\n",
      ".capstan/credentials.json": `{ "oauth_token": { "in": "file", "secret": "${SECRET}" } }`,
    });
    chmodSync(tree.at(".capstan/credentials.json"), 0o600);
    const configuration = await loadTrusted({ cwd: tree.path, environment: { HOME: tree.path }, flags: {} });
    expect(configuration.credentials).toEqual([
      { name: "auth.credential_command", source: tree.at(".capstan/config.yaml") },
      { name: "oauth_token by login", source: tree.at(".capstan/credentials.json") },
    ]);
    expect(JSON.stringify(configuration)).not.toContain(SECRET);
  });

  test.each([
    [
      "that others can read",
      "{}",
      0o640,
      "credential_missing",
      /can be read by others\. Run: chmod 600 .*credentials\.json$/,
    ],
    ["that is no JSON", SECRET, 0o600, "invalid_input", /was not written by capstan auth login/],
    ["of another shape", `{ "api_key": "${SECRET}" }`, 0o600, "invalid_input", /was not written by capstan auth login/],
  ])("in a file %s are refused without being shown, when they are read", async (_why, text, mode, code, message) => {
    using tree = files({ ".capstan/credentials.json": text });
    chmodSync(tree.at(".capstan/credentials.json"), mode);
    const { credentials } = await loadTrusted({ cwd: tree.path, environment: { HOME: tree.path }, flags: {} });
    expect(credentials).toEqual([
      { name: "a login that cannot be read", source: tree.at(".capstan/credentials.json") },
    ]);
    const reading = () => readStoredCredentials(tree.at(".capstan"));
    expect(reading).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
    expect(reading).toThrow(expect.objectContaining({ message: expect.not.stringContaining(SECRET) }));
  });

  test("that agents may not refer to are those of the clouds' own clients, too", () => {
    const names = [
      "AWS_CONTAINER_AUTHORIZATION_TOKEN",
      "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
      "AWS_CONTAINER_CREDENTIALS_FULL_URI",
      "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
      "AWS_SHARED_CREDENTIALS_FILE",
      "AWS_WEB_IDENTITY_TOKEN_FILE",
      "CLOUDSDK_CONFIG",
      "OP_SERVICE_ACCOUNT_TOKEN",
      "VAULT_TOKEN",
    ];
    expect(names.filter((name) => !isCredentialVariable(name))).toEqual([]);
    expect(isCredentialVariable("AWS_REGION")).toBe(false);
  });

  test.each([
    ["https://user:secret@example.org:8443/path?key=secret", "https://example.org:8443"],
    ["secret", "not a URL"],
  ])("in the address %s are not shown either", async (address, value) => {
    using tree = files();
    const environment = { HOME: tree.path, ANTHROPIC_BASE_URL: address };
    const values = await (await loadTrusted({ cwd: tree.path, environment, flags: {} })).values();
    expect(values.at(-1)).toEqual({
      key: "ANTHROPIC_BASE_URL",
      value,
      source: "environment ANTHROPIC_BASE_URL",
    });
  });
});
