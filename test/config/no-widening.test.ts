import { mkdirSync, symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Configuration, LoadOptions } from "../../src/config/load.ts";
import { type Files, files } from "./files.ts";
import { loadTrusted } from "../support/trust.ts";

const USER = "user/.capstan/config.yaml";
const PROJECT = "app/.capstan/config.yaml";
const AGENT = "app/agent.yaml";

function environment(text: string): string {
  return `environment: { ${text} }\n`;
}

/** Settings of the user, and the same of others once as a project's and once as an agent's. */
function trees(user: string, others: string): (readonly [tree: Files, agentFile: string | undefined])[] {
  return [
    [files({ [USER]: environment(user), [PROJECT]: environment(others) }), undefined],
    [files({ [USER]: environment(user), [AGENT]: `name: a\n${environment(others)}` }), "agent.yaml"],
  ];
}

function load(tree: Files, more: Partial<LoadOptions> = {}): Promise<Configuration> {
  return loadTrusted({ cwd: tree.at("app"), environment: { HOME: tree.at("user") }, flags: {}, ...more });
}

describe("a project or an agent does not reopen what the user closed:", () => {
  test.each([
    ["inside a path that is denied", "deny_read: [~/letters]", "allow_read: [~/letters/old, ~/x]", ["~/x"]],
    ["the very path that is denied", "deny_read: [~/letters]", "allow_read: [~/x, ~/letters/]", ["~/x"]],
    ["written otherwise", "deny_read: [~/letters]", "allow_read: [../user/a/../letters, ~/x]", ["~/x"]],
    ["where credentials are", "", "allow_read: [~/.ssh/id_rsa, ~/.aws, ~/x]", ["~/x"]],
    ["what holds secrets by its name", "", "allow_read: [./.env, ./sub/server.key, ~/x]", ["~/x"]],
    ["Capstan's home", "", "allow_read: [~/.capstan, ~/.capstan/capstan.db, ~/x]", ["~/x"]],
    ["by a link", "deny_read: [~/letters]", "allow_read: [./link, ./link/old, ./dangling, ~/x]", ["~/x"]],
    ["all at once, which leaves the user's", "deny_read: [~/a], allow_read: [~/a/b]", "allow_read: [~/a/c]", ["~/a/b"]],
    ["but what the user opens", "deny_read: [~/a], allow_read: [~/a/b]", "allow_read: [~/a/b/c]", ["~/a/b/c"]],
    ["but what is closed there", "", "deny_read: [./s], allow_read: [./s/open]", ["./s/open"]],
  ])("reading, %s", async (_, user, others, expected) => {
    for (const [tree, agentFile] of trees(`sandbox: { ${user} }`, `sandbox: { ${others} }`)) {
      using _tree = tree;
      mkdirSync(tree.at("user/letters"));
      symlinkSync("../user/letters", tree.at("app/link"));
      symlinkSync("../user/letters/not-yet", tree.at("app/dangling"));
      expect((await load(tree, { agentFile })).sessionEnvironment.sandbox.allow_read).toEqual(expected);
    }
  });

  test.each([
    ["in what must not be written", "deny_write: [~/w]", "allow_write: [~/w/x, ~/y]"],
    ["in what must not be read", "deny_read: [~/w]", "allow_write: [~/w, ~/y]"],
    ["where credentials are", "", "allow_write: [~/.ssh/authorized_keys, ~/.capstan/config.yaml, ~/y]"],
  ])("writing, %s", async (_, user, others) => {
    for (const [tree, agentFile] of trees(`sandbox: { ${user} }`, `sandbox: { ${others} }`)) {
      using _tree = tree;
      expect((await load(tree, { agentFile })).sessionEnvironment.sandbox.allow_write).toEqual(["~/y"]);
    }
  });

  test("an agent keeps to what the project denies, too", async () => {
    using tree = files({
      [PROJECT]: environment("sandbox: { deny_read: [./s] }"),
      [AGENT]: `name: a\n${environment("sandbox: { allow_read: [./s/open] }")}`,
    });
    const { sessionEnvironment } = await load(tree, { agentFile: "agent.yaml" });
    expect(sessionEnvironment.sandbox.allow_read).toEqual([]);
  });

  test("files that hold the host's credentials", async () => {
    using tree = files({ [PROJECT]: environment("sandbox: { allow_read: [/srv/key, /srv/audit] }") });
    const shell = { HOME: tree.at("user"), ANTHROPIC_API_KEY_FILE: "/srv/key", CAPSTAN_AUDIT_KEY_FILE: "/srv/audit" };
    expect((await load(tree, { environment: shell })).sessionEnvironment.sandbox.allow_read).toEqual([]);
  });

  test("the user's own settings may", async () => {
    using tree = files({
      "app/": "",
      [USER]: environment("sandbox: { mode: required, allow_read: [~/.ssh/known_hosts] }"),
    });
    expect((await load(tree)).sessionEnvironment.sandbox.allow_read).toEqual(["~/.ssh/known_hosts"]);
  });

  const MODES = ["off", "on", "required"] as const;
  test.each(MODES.flatMap((user) => MODES.map((others) => [user, others] as const)))(
    "checkpoints are the stricter of %s and %s",
    async (user, others) => {
      for (const [tree, agentFile] of trees(`checkpoints: { mode: ${user} }`, `checkpoints: { mode: ${others} }`)) {
        using _tree = tree;
        const { mode } = (await load(tree, { agentFile })).sessionEnvironment.checkpoints;
        expect(mode).toBe(MODES[Math.max(MODES.indexOf(user), MODES.indexOf(others))]);
      }
    },
  );

  test("checkpoints that the user says nothing about are the project's to turn off", async () => {
    using tree = files({ [PROJECT]: environment("checkpoints: { mode: off }") });
    expect((await load(tree)).sessionEnvironment.checkpoints.mode).toBe("off");
  });

  test("limits are the lowest", async () => {
    const user = "limits: { memory_bytes: 5, processes: 5 }";
    for (const [tree, agentFile] of trees(user, "limits: { memory_bytes: 9, processes: 3, cpu_seconds: 7 }")) {
      using _tree = tree;
      const { limits } = (await load(tree, { agentFile })).sessionEnvironment;
      expect(limits).toEqual({ memory_bytes: 5, processes: 3, cpu_seconds: 7 });
    }
  });
});

const WIDER = [
  ["network.allow", "network: { allow: [evil.example] }", "network.allow: evil.example"],
  ["excluded_commands", "excluded_commands: [bash]", "excluded_commands: bash"],
  ["unix_sockets", "unix_sockets: [/run/docker.sock]", "unix_sockets: /run/docker.sock"],
  ["allow_write", "allow_write: [~/all]", "allow_write: ~/all"],
  ["auto_allow_sandboxed", "auto_allow_sandboxed: true", "auto_allow_sandboxed: true"],
] as const;

describe("a sandbox that the user's settings ask for", () => {
  test.each(WIDER)("is not widened by others: %s", async (_, written, named) => {
    for (const mode of ["preferred", "required"])
      for (const [tree, agentFile] of trees(`sandbox: { mode: ${mode} }`, `sandbox: { ${written} }`)) {
        using _tree = tree;
        const file = agentFile === undefined ? `project (${tree.at(PROJECT)})` : `agent (${tree.at(AGENT)})`;
        await expect(load(tree, { agentFile })).rejects.toMatchObject({
          code: "invalid_input",
          message: `${file}: only your own settings may widen a sandbox that they require. Add these there as well, or remove them here: environment.sandbox.${named}`,
        });
      }
  });

  test.each(WIDER)("may have what the user has said as well, or less: %s", async (_, written) => {
    const less = "auto_allow_sandboxed: false, network: { allow: [] }, deny_read: [./s], mode: required";
    for (const others of [written, less])
      for (const [tree, agentFile] of trees(`sandbox: { mode: preferred, ${written} }`, `sandbox: { ${others} }`)) {
        using _tree = tree;
        await load(tree, { agentFile });
      }
  });

  test("hides temporary files from what others say", async () => {
    const others = "sandbox: { allow_read: [~/x] }";
    // The user's home of this test lies there.
    for (const [tree, agentFile] of trees("sandbox: { mode: required }", others)) {
      using _tree = tree;
      expect((await load(tree, { agentFile })).sessionEnvironment.sandbox.allow_read).toEqual([]);
    }
  });

  test.each(WIDER)("is another matter than one that others ask for: %s", async (field, written) => {
    for (const user of ["limits: {}", "sandbox: { mode: off }"])
      for (const [tree, agentFile] of trees(user, `sandbox: { mode: required, ${written} }`)) {
        using _tree = tree;
        const { sandbox } = (await load(tree, { agentFile })).sessionEnvironment;
        expect(sandbox).not.toHaveProperty(field.split("."), field === "auto_allow_sandboxed" ? false : []);
      }
  });
});

describe("what the user's own settings say is a bound for trusted files, too:", () => {
  const user = `permissions: { mode: normal, approvals_expire_ms: 1000 }
budget: { usd: 5, tokens: 100 }
budgets: { day: { usd: 10 }, agents: { a: { usd: 1 } } }
prices: { tiny: { input: 1, output: 2 } }
environment: { limits: { processes: 5 }, checkpoints: { mode: required } }
`;
  const looser = `permissions: { mode: yolo, approvals_expire_ms: 2000 }
budget: { usd: 50, tokens: 10 }
environment: { limits: { processes: 50 }, checkpoints: { mode: off } }
`;
  const settings = `budgets: { day: { usd: 100, time_zone: Asia/Tokyo }, agents: { a: { usd: 9, turns: 3 } } }
prices: { "*": { input: 0, output: 0 } }
`;

  test("modes, budgets, prices, limits and checkpoints stay, and what is stricter counts", async () => {
    for (const [others, agentFile] of [
      [{ [PROJECT]: looser + settings }, undefined],
      [{ [PROJECT]: settings, [AGENT]: `name: a\n${looser}` }, "agent.yaml"],
    ] as const) {
      using tree = files({ [USER]: user, ...others });
      const { agent, settings: inForce, sessionEnvironment, withheld } = await load(tree, { agentFile });
      expect(agent.permissions).toMatchObject({ mode: "normal", approvals_expire_ms: 1000 });
      expect(agent.budget).toEqual({ usd: 5, tokens: 10 });
      expect(inForce.budgets).toMatchObject({ day: { usd: 10 }, agents: { a: { usd: 1, turns: 3 } } });
      expect(inForce.prices).toEqual({ tiny: { input: 1, output: 2 } });
      expect(sessionEnvironment.limits.processes).toBe(5);
      expect(sessionEnvironment.checkpoints.mode).toBe("required");
      expect(withheld).toContainEqual(
        expect.objectContaining({ field: "permissions.mode", value: "yolo", reason: "user settings" }),
      );
    }
  });

  test("a flag of one session is the user's own word", async () => {
    using tree = files({ [USER]: user, "app/": "" });
    const { agent } = await load(tree, { flags: { mode: "yolo", max_usd: 50 } });
    expect(agent).toMatchObject({ permissions: { mode: "yolo" }, budget: { usd: 50 } });
  });

  test("with projects_may_loosen the trusted project counts", async () => {
    using tree = files({ [USER]: `projects_may_loosen: true\n${user}`, [PROJECT]: looser + settings });
    const { agent, settings: inForce, sessionEnvironment } = await load(tree);
    expect(agent).toMatchObject({ permissions: { mode: "yolo" }, budget: { usd: 50 } });
    expect(inForce.budgets.day?.usd).toBe(100);
    expect(sessionEnvironment).toMatchObject({ limits: { processes: 50 }, checkpoints: { mode: "off" } });
  });

  test("with projects_may_loosen an untrusted one still does not", async () => {
    using tree = files({ [USER]: `projects_may_loosen: true\n${user}`, [PROJECT]: looser + settings });
    const { agent, sessionEnvironment } = await load(tree, { trust: { isTrusted: () => false } });
    expect(agent).toMatchObject({ permissions: { mode: "normal" }, budget: { usd: 5, tokens: 10 } });
    expect(sessionEnvironment).toMatchObject({ limits: { processes: 5 }, checkpoints: { mode: "required" } });
  });

  test("no project says that it may loosen anything", async () => {
    using tree = files({ [PROJECT]: "projects_may_loosen: true\n" });
    await expect(load(tree)).rejects.toThrow(/projects_may_loosen: .*only allowed in the user's own settings file/);
  });
});
