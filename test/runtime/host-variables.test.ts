import { describe, expect, test } from "vitest";
import { hostVariables } from "../../src/app/host/host-variables.ts";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import { withoutSecrets } from "../../src/core/session/redaction-session.ts";
import { withHostVariables } from "../../src/runtime/engine/host-variables.ts";

const lookUp = hostVariables({
  DESK_TOKEN: "token-of-the-desk",
  REGION: "eu-central-9",
  HOME: "/home/somebody",
  LINES: "one\ntwo",
  ANTHROPIC_API_KEY: "sk-ant-secret",
  AWS_SECRET_ACCESS_KEY: "aws-secret",
});

function resolveVariables(given: {
  env?: Record<string, string>;
  headers?: Record<string, string>;
  variables?: Record<string, string>;
}) {
  const { env = {}, headers = {}, variables = {} } = given;
  const agent = parseAgent({
    name: "clerk",
    model: "m",
    mcp_servers: {
      files: { command: "files", env },
      desk: { type: "http", url: "https://desk.example/mcp", headers },
    },
  });
  const result = withHostVariables({ agent, environment: parseEnvironment({ variables }) }, lookUp);
  return { agent, ...result };
}

describe("variables of the host that a definition refers to", () => {
  test("are put in for a process, and the definition keeps the reference", () => {
    const env = { TOKEN: "${DESK_TOKEN}", LEVEL: "${LEVEL:-warn}", PLAIN: "$${REGION}" };
    const headers = { Authorization: "Bearer ${DESK_TOKEN}" };
    const { agent, servers, variables } = resolveVariables({ env, headers, variables: { CACHE: "${HOME}/cache" } });
    expect(servers).toMatchObject({
      files: { command: "files", env: { TOKEN: "token-of-the-desk", LEVEL: "warn", PLAIN: "${REGION}" } },
      desk: { url: "https://desk.example/mcp", headers: { Authorization: "Bearer token-of-the-desk" } },
    });
    expect(variables).toEqual({ CACHE: "/home/somebody/cache" });
    expect(agent.mcp_servers).toMatchObject({ files: { env }, desk: { headers } });
  });

  test("are told to the redactor, but for those that stand in every path", () => {
    const { secrets } = resolveVariables({
      env: { WHERE: "${REGION}", CACHE: "${HOME}/cache", LEVEL: "${LEVEL:-warn}" },
      headers: { Authorization: "Bearer ${DESK_TOKEN}", "X-Api-Key": "written-out-key" },
    });
    expect(secrets.map(({ value }) => value)).toEqual(
      expect.arrayContaining(["eu-central-9", "token-of-the-desk", "written-out-key"]),
    );
    expect(secrets.map(({ value }) => value)).not.toContain("/home/somebody");
  });

  test("are all named when they are not set, with the field that refers to them", () => {
    expect(() =>
      resolveVariables({ env: { A: "${NOT_THERE}" }, headers: { B: "${NOR_THIS}" }, variables: { C: "${" } }),
    ).toThrow(
      [
        "mcp_servers.files.env.A: the variable NOT_THERE is not set; set it in the shell or in .env, or write ${NOT_THERE:-words}",
        "mcp_servers.desk.headers.B: the variable NOR_THIS is not set; set it in the shell or in .env, or write ${NOR_THIS:-words}",
        "environment.variables.C: expected ${NAME} or ${NAME:-words}; write $${ for a plain ${",
      ].join("\n"),
    );
  });

  test.each(["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "AWS_SECRET_ACCESS_KEY"])(
    "are never the credentials for the model API: %s",
    (name) => {
      const refused = `the variable ${name} is a credential of the host, which agents must not see; use another one`;
      expect(() => resolveVariables({ env: { A: `\${${name}}` } })).toThrow(`mcp_servers.files.env.A: ${refused}`);
      expect(() => resolveVariables({ headers: { A: `\${${name}:-none}` } })).toThrow(
        `mcp_servers.desk.headers.A: ${refused}`,
      );
      expect(() => resolveVariables({ variables: { A: `\${${name}}` } })).toThrow(
        `environment.variables.A: ${refused}`,
      );
    },
  );

  test("are shown as references, and a secret that is written out is not shown", () => {
    const { agent } = resolveVariables({
      env: { TOKEN: "${DESK_TOKEN}" },
      headers: { Authorization: "Bearer ${DESK_TOKEN}", "X-Api-Key": "written-out", "X-Team": "blue" },
    });
    expect(withoutSecrets({ agent, environment: parseEnvironment({}) }).agent.mcp_servers).toMatchObject({
      files: { env: { TOKEN: "${DESK_TOKEN}" } },
      desk: {
        headers: { Authorization: "Bearer ${DESK_TOKEN}", "X-Api-Key": "[redacted:X-Api-Key]", "X-Team": "blue" },
      },
    });
  });

  test("must fit into a header, and are not repeated when they do not", () => {
    expect(() => resolveVariables({ headers: { A: "${LINES}" } })).toThrow(
      "mcp_servers.desk.headers.A: a header has one line of letters, digits and signs; its value has other characters",
    );
  });
});
