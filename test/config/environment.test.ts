import { describe, expect, test } from "vitest";
import type { Configuration, LoadOptions } from "../../src/config/load.ts";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import { type Files, files } from "./files.ts";
import { loadTrusted } from "../support/trust.ts";

/** The configuration of `app` in a tree whose user is `user`. */
function load(tree: Files, more: Partial<LoadOptions> = {}): Promise<Configuration> {
  return loadTrusted({ cwd: tree.at("app"), environment: { HOME: tree.at("user") }, flags: {}, ...more });
}

const USER = "user/.capstan/config.yaml";
const PROJECT = "app/.capstan/config.yaml";
const AGENT = "app/agent.yaml";

/** key and value → where it came from, with the tree's own path left out. */
async function sources(tree: Files, configuration: Configuration): Promise<Record<string, string>> {
  const values = await configuration.values();
  return Object.fromEntries(
    values
      .filter(({ key }) => key.startsWith("environment.") || key === "mount_roots")
      .map(({ key, value, source }) => [
        `${key} ${typeof value === "string" ? value : JSON.stringify(value)}`,
        source.replace(`${tree.path}/`, ""),
      ]),
  );
}

function withSandbox(mode: string): string {
  return `environment: { sandbox: { mode: ${mode} } }\n`;
}

describe("the environment of a session", () => {
  test("is the built-in one where nobody says anything", async () => {
    using tree = files({ "app/": "" });
    const configuration = await load(tree);
    expect(configuration.sessionEnvironment).toEqual(parseEnvironment({}));
    expect(configuration.settings.mount_roots).toEqual([]);
    expect(new Set(Object.values(await sources(tree, configuration)))).toEqual(new Set(["built in"]));
  });

  test("takes each value from the last that gives it, denials from all, and the lower limit", async () => {
    using tree = files({
      [USER]: `environment:
  workspace: { kind: copy, mounts: [{ source: . }], max_files: 5 }
  checkpoints: { mode: required, max_files: 10, exclude: [dist/] }
  sandbox: { deny_read: [~/a], allow_write: [~/cache], network: { allow: [user.example] }, hide_variables: [PIN] }
  limits: { processes: 10, cpu_seconds: 5 }
  variables: { LANG: C, EDITOR: vi }
`,
      [PROJECT]: `environment:
  workspace: { kind: worktree, branch: work }
  checkpoints: { max_files: 20, exclude: [dist/, build/] }
  sandbox: { deny_read: [~/b], deny_write: [./ci], allow_write: [./out], network: { allow: [project.example] } }
  limits: { processes: 20 }
`,
      [AGENT]: `name: a
environment:
  sandbox: { deny_read: [~/c], auto_allow_sandboxed: true }
  variables: { LANG: de }
`,
    });
    const configuration = await load(tree, { agentFile: "agent.yaml" });
    expect(configuration.sessionEnvironment).toEqual(
      parseEnvironment({
        workspace: { kind: "worktree", branch: "work" },
        checkpoints: { mode: "required", max_files: 20, exclude: ["node_modules/", "dist/", "build/"] },
        sandbox: {
          auto_allow_sandboxed: true,
          deny_read: ["~/a", "~/b", "~/c"],
          deny_write: ["./ci"],
          allow_write: ["./out"],
          network: { allow: ["project.example"] },
          hide_variables: ["PIN"],
        },
        limits: { processes: 10, cpu_seconds: 5 },
        variables: { LANG: "de", EDITOR: "vi" },
      }),
    );
    expect(configuration.agent).not.toHaveProperty("environment");
    const user = `user (${USER})`;
    const project = `project (${PROJECT})`;
    const agent = `agent (${AGENT})`;
    expect(await sources(tree, configuration)).toEqual({
      "environment.workspace.kind worktree": project,
      "environment.workspace.branch work": project,
      "environment.checkpoints.mode required": user,
      "environment.checkpoints.max_file_bytes 52428800": "built in",
      "environment.checkpoints.max_files 20": project,
      "environment.checkpoints.max_bytes 2147483648": "built in",
      "environment.checkpoints.exclude node_modules/": "built in",
      "environment.checkpoints.exclude dist/": user,
      "environment.checkpoints.exclude build/": project,
      "environment.sandbox.mode off": "built in",
      "environment.sandbox.auto_allow_sandboxed true": agent,
      "environment.sandbox.network.allow project.example": project,
      "environment.sandbox.deny_read ~/a": user,
      "environment.sandbox.deny_read ~/b": project,
      "environment.sandbox.deny_read ~/c": agent,
      "environment.sandbox.deny_write ./ci": project,
      "environment.sandbox.allow_write ./out": project,
      "environment.sandbox.hide_variables PIN": user,
      "environment.limits.processes 10": user,
      "environment.limits.cpu_seconds 5": user,
      "environment.variables.LANG de": agent,
      "environment.variables.EDITOR vi": user,
    });
  });

  const MODES = ["off", "preferred", "required"] as const;
  test.each(MODES.flatMap((user) => MODES.map((project) => [user, project] as const)))(
    "has the stricter sandbox of the user's (%s) and the project's (%s), and of an agent's",
    async (user, project) => {
      const strictest = MODES[Math.max(MODES.indexOf(user), MODES.indexOf(project))];
      using tree = files({ [USER]: withSandbox(user), [PROJECT]: withSandbox(project) });
      expect((await load(tree)).sessionEnvironment.sandbox.mode).toBe(strictest);
      using other = files({ "app/": "", [USER]: withSandbox(user), [AGENT]: `name: a\n${withSandbox(project)}` });
      const { sessionEnvironment } = await load(other, { agentFile: "agent.yaml" });
      expect(sessionEnvironment.sandbox.mode).toBe(strictest);
    },
  );

  test("says whose the sandbox's mode is", async () => {
    using tree = files({
      [USER]: "environment: { sandbox: { mode: required } }\n",
      [PROJECT]: "environment: { sandbox: { mode: off } }\n",
    });
    expect(await sources(tree, await load(tree))).toHaveProperty(
      ["environment.sandbox.mode required"],
      `user (${USER})`,
    );
  });

  test("has the sandbox of the flag, stricter or not", async () => {
    using tree = files({ "app/": "", [USER]: "environment: { sandbox: { mode: preferred } }\n" });
    for (const sandbox of MODES) {
      const configuration = await load(tree, { flags: { sandbox } });
      expect(configuration.sessionEnvironment.sandbox.mode).toBe(sandbox);
      expect(await sources(tree, configuration)).toHaveProperty(
        [`environment.sandbox.mode ${sandbox}`],
        "flag --sandbox",
      );
    }
  });

  test.each([
    ["in-place", { kind: "in-place", when_busy: "wait" }],
    [
      "copy",
      {
        kind: "copy",
        mounts: [
          {
            source: ".",
            target: ".",
            gitignore: true,
            include: [],
            exclude: [],
            symlinks: "skip",
            read_only: false,
          },
        ],
        max_bytes: 1_073_741_824,
        max_files: 100_000,
      },
    ],
    ["worktree", { kind: "worktree" }],
    ["clone", { kind: "clone" }],
  ] as const)("has the workspace of the flag: %s", async (workspace, expected) => {
    using tree = files({ "app/": "", [USER]: "environment: { workspace: { kind: worktree, branch: mine } }\n" });
    const configuration = await load(tree, { flags: { workspace } });
    expect(configuration.sessionEnvironment.workspace).toEqual(expected);
    expect(await sources(tree, configuration)).toHaveProperty(
      [`environment.workspace.kind ${workspace}`],
      "flag --workspace",
    );
    expect(Object.keys(await sources(tree, configuration)).join()).not.toContain("mine");
  });

  test("has no variables that would lead the agent past the gateway, whoever sets them", async () => {
    using tree = files({ "app/": "", [USER]: "environment: { variables: { LANG: C, NODE_OPTIONS: --inspect } }\n" });
    await expect(load(tree)).rejects.toThrow(
      `${tree.at(USER)}:1:52 environment.variables.NODE_OPTIONS: would bypass the gateway;`,
    );
  });

  test("is shown without its secrets", async () => {
    using tree = files({
      "app/": "",
      [USER]: `environment:
  workspace: { kind: clone, from: "https://kim:hunter2hunter2@git.example/shop.git" }
  variables: { API_TOKEN: abc, LANG: C }
`,
    });
    const configuration = await load(tree);
    expect(configuration.sessionEnvironment.variables).toEqual({ API_TOKEN: "abc", LANG: "C" });
    const shown = JSON.stringify(await configuration.values());
    expect(shown).not.toContain("hunter2");
    expect(await sources(tree, configuration)).toMatchObject({
      "environment.variables.API_TOKEN [redacted:API_TOKEN]": `user (${USER})`,
      "environment.variables.LANG C": `user (${USER})`,
    });
  });

  test.each([
    [
      "workspace: { kind: cpy }",
      "cpy",
      'environment.workspace.kind: expected one of in-place, copy, worktree, clone (found "cpy"); did you mean "copy"?',
    ],
    [
      "workspace: { base: main }",
      "{ base",
      "environment.workspace.kind: expected one of in-place, copy, worktree, clone (found nothing)",
    ],
    ["workspace: { kind: copy }", "{ kind", "environment.workspace.mounts: expected a list (found nothing)"],
    [
      "workspace: { kind: copy, mounts: [{ source: ., sorce: . }] }",
      "sorce",
      'environment.workspace.mounts.0.sorce: unknown key; did you mean "source"?',
    ],
    [
      "workspace: { kind: worktree, mounts: [] }",
      "mounts",
      "environment.workspace.mounts: unknown key; known keys: kind, base, branch",
    ],
    [
      "checkpoints: { mode: sometimes }",
      "sometimes",
      'environment.checkpoints.mode: expected one of on, off, required (found "sometimes")',
    ],
    [
      "checkpoints: { max_files: 0 }",
      "0",
      "environment.checkpoints.max_files: expected a number greater than 0 (found 0)",
    ],
    [
      "sandbox: { network: { alow: [] } }",
      "alow",
      'environment.sandbox.network.alow: unknown key; did you mean "allow"?',
    ],
    [
      "limits: { memory: 5 }",
      "memory",
      "environment.limits.memory: unknown key; known keys: memory_bytes, processes, cpu_seconds",
    ],
    ["variables: { A B: x }", "A B", 'environment.variables."A B": expected a name of a variable (found "A B")'],
    [
      "budget: 1",
      "budget",
      "environment.budget: unknown key; known keys: workspace, checkpoints, sandbox, limits, variables",
    ],
  ])("with %s is refused at %s", async (written, place, problem) => {
    const text = `environment: { ${written} }\n`;
    using tree = files({ [PROJECT]: text });
    await expect(load(tree)).rejects.toThrow(
      expect.objectContaining({
        code: "invalid_input",
        message: `${tree.at(PROJECT)}:1:${text.indexOf(place) + 1} ${problem}`,
      }),
    );
  });

  test("in an agent file is refused there", async () => {
    using tree = files({ [AGENT]: "name: a\nenvironment:\n  sandbox: yes\n" });
    await expect(load(tree, { agentFile: "agent.yaml" })).rejects.toThrow(
      expect.objectContaining({
        code: "invalid_agent",
        message: `${tree.at(AGENT)}:3:12 environment.sandbox: expected a mapping (found "yes")`,
      }),
    );
  });
});

describe("directories that workspaces may be filled from", () => {
  test("are the user's to name, absolute or from ~", async () => {
    using tree = files({ "app/": "", [USER]: 'mount_roots: [/srv/shared, ~/src, "~"]\n' });
    const configuration = await load(tree);
    expect(configuration.settings.mount_roots).toEqual(["/srv/shared", tree.at("user/src"), tree.at("user")]);
    expect(await sources(tree, configuration)).toHaveProperty(["mount_roots /srv/shared"], `user (${USER})`);
  });

  test("are refused in a project's settings, which says why", async () => {
    using tree = files({ [PROJECT]: "retries: 1\nmount_roots: [/srv/shared]\n" });
    await expect(load(tree)).rejects.toThrow(
      expect.objectContaining({
        code: "invalid_input",
        message: expect.stringMatching(/config\.yaml:2:14 mount_roots: only allowed in the user's own settings file/),
      }),
    );
  });

  test.each(["src", "./src", "~kim/src", ""])("are refused when they are relative: %j", async (root) => {
    using tree = files({ "app/": "", [USER]: `mount_roots: [${JSON.stringify(root)}]\n` });
    await expect(load(tree)).rejects.toThrow(/mount_roots\.0: expected an absolute path, or one from ~/);
  });

  test("cannot be found from ~ without a home", async () => {
    using tree = files({ "app/": "", "home/config.yaml": "mount_roots: [~/src]\n" });
    const environment = { CAPSTAN_HOME: tree.at("home") };
    await expect(load(tree, { environment })).rejects.toThrow(
      expect.objectContaining({ code: "invalid_input", message: expect.stringContaining("HOME") }),
    );
  });
});
