import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AgentInput } from "../../src/core/agent/agent-definition.ts";
import type { EnvironmentInput } from "../../src/core/environment/environment.ts";
import { sandboxTest } from "../support/hostile-world.ts";
import { agent, type TestHost, testHost } from "../support/host.ts";
import { call, type Reply, type ModelRequest, say } from "../support/scripted-model.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";

/**
 * Variables in a project's settings must reach the agent's commands and nothing that starts them. Every program started
 * with these variables leaves a file: glibc writes one for `LD_DEBUG_OUTPUT`, and everything on the search path is a
 * script that reports its name.
 */
const STARTERS = [
  "setpriv",
  "unshare",
  "bwrap",
  "socat",
  "git",
  "env",
  "rg",
  "bash",
  "sh",
  "true",
  "node",
  "apply-seccomp",
];

interface Trap extends AsyncDisposable {
  readonly variables: Readonly<Record<string, string>>;
  /** The programs that were started with the variables, or found by them. */
  listCaught(): readonly string[];
  telemetry(): number;
}

async function trap(directory: string): Promise<Trap> {
  const [programs, traces] = [join(directory, "programs"), join(directory, "traces")];
  mkdirSync(programs, { recursive: true });
  mkdirSync(traces, { recursive: true });
  for (const name of STARTERS) {
    writeFileSync(join(programs, name), `#!/bin/sh\necho found > '${traces}/${name}'\nexit 1\n`);
    chmodSync(join(programs, name), 0o755);
  }
  let telemetry = 0;
  const server = createServer((_req, res) => {
    telemetry += 1;
    res.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    variables: {
      COLOUR: "blue",
      PATH: `${programs}:/usr/bin:/bin`,
      LD_DEBUG: "files",
      LD_DEBUG_OUTPUT: join(traces, "loaded"),
      CLAUDE_CODE_ENABLE_TELEMETRY: "1",
      OTEL_LOGS_EXPORTER: "otlp",
      OTEL_METRICS_EXPORTER: "otlp",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      OTEL_LOG_USER_PROMPTS: "1",
    },
    listCaught: () =>
      readdirSync(traces).map((name) =>
        name.startsWith("loaded") ? programIn(readFileSync(join(traces, name), "utf8")) : `found ${name}`,
      ),
    telemetry: () => telemetry,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function programIn(trace: string): string {
  return /initialize program: (\S+)/.exec(trace)?.[1] ?? "unknown";
}

const SHOW = `echo "$COLOUR $CAPSTAN_SESSION token=$ANTHROPIC_AUTH_TOKEN"; /usr/bin/grep -ac ANTHROPIC_ /proc/1/environ`;

/** Says hello, and when it is asked to look, shows what a command has, of its own and in a subagent. */
function script(request: ModelRequest): Reply {
  if (request.agent !== "main") return request.toolResults.length > 0 ? say("done") : call("Bash", { command: SHOW });
  if (!request.last.includes("Look.")) return say("hello");
  return call("Agent", { description: "look", prompt: "Show it.", subagent_type: "looker", run_in_background: false });
}

const LOOKER: Partial<AgentInput> = {
  tools: ["Bash"],
  permissions: { mode: "yolo" },
  hooks: { before_tool: [{ command: ["/usr/bin/true"] }] },
  subagents: { looker: { description: "Looks.", instructions: "Look.", tools: ["Bash"] } },
};

/** The shell of a command on the direct engine ends with this program, which says what variables the command has set. */
const SAVES_STATE = TEST_ENGINE === "direct" ? ["/usr/bin/env"] : [];

async function converse(t: TestHost, { variables }: Trap, environment: EnvironmentInput): Promise<string> {
  const session = await t.host.startSession({
    agent: agent(LOOKER),
    cwd: t.cwd,
    environment: { ...environment, variables },
  });
  await session.send("hello").result();
  await session.close();
  await using later = await t.another();
  const resumed = await later.resumeSession(session.id);
  await resumed.send("Look.").result();
  const events = await later.read(session.id);
  await resumed.close();
  return JSON.stringify(events.filter(({ type }) => type === "agent.tool_result")).replaceAll(session.id, "SESSION");
}

test("a project's variables start nothing on a plain hello, and reach only the commands of agent and subagent", async () => {
  await using t = await testHost(script);
  await using trapped = await trap(join(t.home, "..", "trap"));
  const seen = await converse(t, trapped, {});
  // Nor does the process itself, which is the first one that its commands see, show the token.
  expect(seen).toContain('blue SESSION token=\\n0"');
  expect(trapped.listCaught()).toEqual(["/usr/bin/grep", ...SAVES_STATE]);
  expect(trapped.telemetry()).toBe(0);
});

sandboxTest("with the sandbox nothing outside of it is started with them", async () => {
  await using t = await testHost(script);
  await using trapped = await trap(join(t.home, "..", "trap"));
  const seen = await converse(t, trapped, { sandbox: { mode: "required", auto_allow_sandboxed: true } });
  expect(seen).toContain("blue SESSION token=\\n");
  expect(trapped.listCaught()).toEqual([]);
  expect(trapped.telemetry()).toBe(0);
});
