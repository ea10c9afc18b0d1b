import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { watchApproval } from "../../src/cli/ask/ask-watch.ts";
import { remoteHost } from "../../src/cli/target/remote-host.ts";
import { remoteRecords } from "../../src/cli/target/remote-records.ts";
import { RemoteSession } from "../../src/cli/target/remote-session.ts";
import type { ChosenServer } from "../../src/cli/target/server.ts";
import { createClient } from "../../src/client/index.ts";
import { listen, type Listening } from "../../src/server/listen.ts";
import type { Role } from "../../src/core/ports/registry.ts";
import { CTRL_C, DOWN, ENTER, type Terminal, terminal } from "./ask-terminal.ts";
import { type Cli, type CliResult, collect, exitOf, testCli } from "../support/cli.ts";
import type { People } from "../support/api-people.ts";
import { idle, people, session } from "../support/api-people.ts";
import { order } from "../support/obedient-model.ts";
import { until } from "../support/until.ts";

let all: People;
let listening: Listening;
let cli: Cli;
let url: string;

beforeAll(async () => {
  all = await people({ agent: { permissions: { mode: "accept-edits", allow: ["Bash(sleep *)"] } } });
  listening = await listen(all.api.app, { host: "127.0.0.1", port: 0 });
  url = `http://127.0.0.1:${listening.port}`;
  cli = testCli();
});
afterAll(async () => {
  await listening.close();
  await all.api[Symbol.asyncDispose]();
  cli[Symbol.dispose]();
});

const environment = (role: Role = "admin"): Record<string, string> => ({
  CAPSTAN_URL: url,
  CAPSTAN_KEY: all[role].key,
});

/** The CLI against the server, with a key of that role. */
const capstan = (args: readonly string[], role?: Role): Promise<CliResult> =>
  cli.run(args, { environment: environment(role) });

const lines = (text: string): { [key: string]: unknown }[] =>
  text
    .trim()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { [key: string]: unknown });

describe("run", () => {
  test("shows a turn of a session that the server made, as a turn here would be shown", async () => {
    const { code, stdout, stderr } = await capstan([
      "run",
      order(["Write", { file_path: "made.txt", content: "x\n" }]),
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("✓ Write made.txt");
    expect(stdout).toContain("done");
    expect(stdout).toMatch(/1 file changed · capstan diff \w{8} · capstan rewind \w{8} --to turn/);
    expect(stdout).toMatch(/tokens in, .* out · .*session \w{8}/);
    expect(readFileSync(join(all.api.cwd, "made.txt"), "utf8")).toBe("x\n");
    // Nothing was made here.
    expect(existsSync(join(cli.home, ".capstan"))).toBe(false);
  });

  test("prints the events as they are in the log", async () => {
    const { code, stdout } = await capstan(["run", "--json", "hello"], "operator");
    expect(code).toBe(0);
    const events = lines(stdout);
    expect(events[0]).toMatchObject({ seq: 1 });
    expect(events.at(-1)).toMatchObject({ type: "session.status_idle", stop_reason: { type: "end_turn" } });
    const [last] = (await all.viewer.get("/api/sessions?limit=1")).body.data as { id: string }[];
    const log = (await all.viewer.get(`/api/sessions/${last?.id}/events`)).body.data as { seq: number }[];
    expect(events).toEqual(log.map((event) => ({ session_id: last?.id, ...event })));
  });

  test("refuses an agent file that does not exist, and starts nothing", async () => {
    const before = (await all.viewer.get("/api/sessions?limit=100")).body.data as unknown[];
    for (const args of [
      ["run", "-a", "missing.yaml", "hello"],
      ["run", "-a", "missing.yaml", "--detach", "hello"],
    ]) {
      const { code, stderr } = await capstan(args);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/Cannot read the agent file .*missing\.yaml/)]);
    }
    const after = (await all.viewer.get("/api/sessions?limit=100")).body.data as unknown[];
    expect(after).toHaveLength(before.length);
  });

  test("takes flags along: model, mode, limits, place and schema", async () => {
    const inside = join(all.api.cwd, "below");
    mkdirSync(inside);
    const place = ["-C", inside, "--model", "claude-haiku-4-5", "--mode", "read-only", "--max-usd", "2"];
    const run = ["run", ...place, "--allow", "Bash(ls)", "look around"];
    const refused = await capstan(run, "operator");
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("allow: ")]);
    const { code, stderr } = await capstan(run);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [last] = (await all.viewer.get("/api/sessions?limit=1")).body.data;
    expect(last).toMatchObject({
      cwd: inside,
      agent: {
        name: "tester",
        model: "claude-haiku-4-5",
        permissions: { mode: "read-only", allow: ["Bash(sleep *)", "Bash(ls)"] },
        budget: { usd: 2 },
      },
    });
  });

  test("gives an agent file along, where the key may", async () => {
    const file = join(cli.cwd, "agent.yaml");
    writeFileSync(
      file,
      "name: from-file\ninstructions: Be brief.\ntools: [Read]\nenvironment:\n  workspace: { kind: copy, mounts: [{ source: . }] }\n",
    );
    const { code, stderr } = await capstan(["run", "--agent", file, "hello"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [last] = (await all.viewer.get("/api/sessions?limit=1")).body.data;
    expect(last).toMatchObject({ agent: { name: "from-file" }, environment: { workspace: { kind: "copy" } } });
    const refused = await capstan(["run", "--agent", file, "hello"], "operator");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("only an admin key");
  });

  test("goes on with a session, with the last one, and with a fork", async () => {
    const id = await session(all.operator, "remember me");
    const resumed = await capstan(["run", "--resume", id.slice(-8), "--max-usd", "9", "and now?"], "operator");
    expect(resumed.code).toBe(0);
    expect((await all.viewer.get(`/api/sessions/${id}`)).body).toMatchObject({
      turns: 2,
      state: { budget: { usd: 9 } },
    });
    expect((await capstan(["run", "--continue", "again"], "operator")).code).toBe(0);
    expect((await all.viewer.get(`/api/sessions/${id}`)).body.turns).toBe(3);
    expect((await capstan(["run", "--fork", id, "apart"], "operator")).code).toBe(0);
    const [fork] = (await all.viewer.get("/api/sessions?limit=1")).body.data;
    expect(fork.forked_from.session_id).toBe(id);
  });

  test("answers what is asked about as the flags say, or waits with exit code 5", async () => {
    const allowed = await capstan(["run", "--yes", order(["Bash", { command: "touch yes.txt" }])], "operator");
    expect(allowed.code).toBe(0);
    expect(existsSync(join(all.api.cwd, "yes.txt"))).toBe(true);
    const denied = await capstan(["run", "--deny", order(["Bash", { command: "touch no.txt" }])], "operator");
    expect(denied.code).toBe(0);
    expect(denied.stdout).toContain("this run was started with --deny");
    expect(existsSync(join(all.api.cwd, "no.txt"))).toBe(false);
    const waits = await capstan(["run", order(["Bash", { command: "touch later.txt" }])], "operator");
    expect(waits.code).toBe(5);
    const [, approval = ""] = /capstan approvals answer (\w{8}) allow/.exec(waits.stderr) ?? [];

    const answered = await capstan(["approvals", "answer", approval, "allow"], "operator");
    expect(answered).toMatchObject({ code: 0, stderr: "" });
    expect(answered.stdout).toContain(`(${url})`);
    await until(() => existsSync(join(all.api.cwd, "later.txt")), Boolean);
  });

  test("is left to the server, and its id is printed", async () => {
    const { code, stdout, stderr } = await capstan(["run", "--detach", "go on alone"], "operator");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^sesn_\w+\n$/);
    expect(stderr).toContain("capstan sessions show");
    expect((await idle(all.operator, stdout.trim())).first_message).toBe("go on alone");
    const here = await cli.run(["run", "--detach", "go on alone"]);
    expect(here).toMatchObject({ code: 2, stdout: "" });
    expect(here.stderr).toContain("CAPSTAN_URL is not set");
  });

  test("is interrupted on the server by a signal here", async () => {
    const child = cli.start(["run", order(["Bash", { command: "sleep 60" }])], {
      environment: environment("operator"),
    });
    const stderr = collect(child.stderr);
    const running = async (): Promise<{ id: string; state: { open_calls: unknown[] } } | undefined> => {
      const [last] = (await all.viewer.get("/api/sessions?limit=1&status=running")).body.data as { id: string }[];
      return last && (await all.viewer.get(`/api/sessions/${last.id}`)).body;
    };
    const found = await until(running, (one) => one !== undefined && one.state.open_calls.length > 0);
    child.kill("SIGINT");
    expect(await exitOf(child)).toBe(130);
    expect(stderr.text).toContain("Interrupted. Continue with: capstan run --resume");
    expect((await all.viewer.get(`/api/sessions/${found?.id}`)).body.status).toBe("idle");
  });

  test("ends as a turn here would when it fails", async () => {
    const { code, stderr } = await capstan(
      ["run", "--max-steps", "1", order(["Read", { file_path: "a" }])],
      "operator",
    );
    expect(code).toBe(4);
    expect(stderr).toContain("steps");
  });

  test("refuses what only means something here", async () => {
    const [{ id }] = (await all.viewer.get("/api/sessions?limit=1")).body.data;
    for (const flags of [["--rehearsal"], ["--resume", id, "--timeout", "5m"], ["--resume", id, "-C", "/tmp"]]) {
      const refused = await capstan(["run", ...flags, "hello"]);
      expect(refused.code, flags.join(" ")).toBe(2);
      expect(refused.stderr).toContain("does not work against a server");
    }
  });
});

const open = (args: readonly string[]): Terminal => terminal(cli, args, environment("operator"));

describe("at a terminal", () => {
  test("questions are put here and answered there", async () => {
    await using screen = open([
      "run",
      order(["Bash", { command: "touch t1.txt" }], ["Bash", { command: "touch t2.txt" }]),
    ]);
    await screen.sees("Allow this?");
    screen.type(ENTER);
    await screen.sees("Run touch t2.txt");
    await screen.sees("Allow this?");
    // "Allow from now on in this session…", then "Save".
    screen.type(DOWN + ENTER);
    await screen.sees("Save this rule?");
    screen.type(ENTER);
    await screen.sees("done");
    expect(await screen.end()).toBe(0);
    expect(screen.text).toContain("Allow in this project");
    // The server would refuse it.
    expect(screen.text).not.toContain("everywhere");
    for (const name of ["t1.txt", "t2.txt"]) expect(existsSync(join(all.api.cwd, name))).toBe(true);
    const [last] = (await all.viewer.get("/api/approvals")).body.data.slice(-1);
    expect(last.answer).toMatchObject({ behavior: "allow", scope: "session", by: "operator-key", from: "api" });
  });

  test("a session that waits is taken up here", async () => {
    const id = await session(all.operator, order(["Bash", { command: "touch t3.txt" }]));
    await using screen = open(["run", "--resume", id]);
    await screen.sees("Allow this?");
    screen.type(ENTER);
    await screen.sees("done");
    expect(await screen.end()).toBe(0);
    expect(existsSync(join(all.api.cwd, "t3.txt"))).toBe(true);
  });

  test("Ctrl-C at a question ends the turn", async () => {
    await using screen = open(["run", order(["Bash", { command: "touch t4.txt" }])]);
    await screen.sees("Allow this?");
    screen.type(CTRL_C);
    await screen.sees("Interrupted.");
    expect(await screen.end()).toBe(130);
    expect(existsSync(join(all.api.cwd, "t4.txt"))).toBe(false);
    expect((await all.viewer.get("/api/approvals?status=pending")).body.data).toEqual([]);
  });
});

describe("commands", () => {
  let id: string;
  beforeAll(async () => {
    id = await session(all.operator, "a needle in here");
  });

  test("sessions are listed, shown, exported and compacted", async () => {
    const list = await capstan(["sessions", "list", "needle"], "viewer");
    expect(list.stdout).toMatch(new RegExp(`${id.slice(-8)} +idle .* tester +a needle in here`));
    const [json] = lines((await capstan(["sessions", "list", "--json", "needle"], "viewer")).stdout);
    expect(json).toMatchObject({ id, project: all.api.project, firstMessage: "a needle in here", waiting: 0 });
    expect(typeof json?.["lastActivityAt"]).toBe("number");

    const shown = await capstan(["sessions", "show", id.slice(-8)], "viewer");
    expect(shown.stdout).toContain("> a needle in here");
    expect(shown.stdout).toContain(`project ${all.api.project}`);
    const events = lines((await capstan(["sessions", "show", id, "--json"], "viewer")).stdout);
    expect(events).toEqual((await all.viewer.get(`/api/sessions/${id}/events`)).body.data);

    const file = join(cli.cwd, "session.jsonl");
    expect((await capstan(["sessions", "export", id, "-o", file], "viewer")).code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const imported = await cli.run(["sessions", "import", "--trust", file]);
    expect(imported.stdout).toContain("Imported as session");

    const compacted = await capstan(["sessions", "compact", id], "operator");
    expect(compacted).toMatchObject({ code: 0, stdout: `Session ${id.slice(-8)} continues from a summary.\n` });
  });

  test("a session is followed until somebody leaves", async () => {
    const child = cli.start(["sessions", "show", id, "--follow"], { environment: environment("viewer") });
    const stdout = collect(child.stdout);
    await expect.poll(() => stdout.text, { timeout: 20_000 }).toContain("a needle in here");
    await all.operator.post(`/api/sessions/${id}/messages`, { content: "still there?" });
    await expect.poll(() => stdout.text, { timeout: 20_000 }).toContain("still there?");
    child.kill("SIGINT");
    expect(await exitOf(child)).toBe(130);
  });

  test("approvals are listed, shown, waited for and answered; grants are listed, shown and revoked", async () => {
    const id = await session(all.operator, order(["Bash", { command: "echo granted" }]));
    const waited = await capstan(["approvals", "wait", "--timeout", "10s"], "viewer");
    expect(waited.code).toBe(0);
    const [, approval = ""] = /capstan approvals answer (\w{8}) allow/.exec(waited.stdout) ?? [];
    const listed = lines((await capstan(["approvals", "list", "--json", "--session", id], "viewer")).stdout);
    expect(listed).toMatchObject([{ sessionId: id, status: "pending", answer: null }]);
    expect((await capstan(["approvals", "show", approval], "operator")).stdout).toContain("echo granted");

    const always = await capstan(["approvals", "answer", approval, "allow", "--scope", "always"], "operator");
    expect(always.code).toBe(2);
    expect(always.stderr).toContain("Use the scope session or project");
    const as = await capstan(["approvals", "answer", approval, "allow", "--as", "somebody"], "operator");
    expect(as).toMatchObject({ code: 2 });
    const answered = await capstan(
      ["approvals", "answer", approval, "allow", "--scope", "project", "--json"],
      "operator",
    );
    expect(lines(answered.stdout)).toMatchObject([{ answer: { behavior: "allow", by: "operator-key" } }]);
    expect((await capstan(["approvals", "answer", approval, "deny"], "operator")).code).toBe(2);

    const grant = lines((await capstan(["grants", "list", "--json"], "viewer")).stdout).at(-1);
    expect(grant).toMatchObject({ rule: "Bash(echo granted)", project: all.api.project });
    const short = String(grant?.["id"]).slice(-8);
    expect((await capstan(["grants", "show", short], "viewer")).stdout).toContain("It would allow 1 recorded call");
    const refused = await capstan(["grants", "revoke", short], "viewer");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("requires a key with the role operator");
    expect((await capstan(["grants", "revoke", short], "operator")).stdout).toContain("needs approval again");
    expect((await capstan(["grants"])).stdout).not.toContain("echo granted");
  });

  test("files are compared, brought back, taken out and applied", async () => {
    writeFileSync(join(all.api.cwd, "shared.txt"), "base\n");
    const environment = { workspace: { kind: "copy", mounts: [{ source: ".", target: "." }] } };
    const write = order(
      ["Read", { file_path: "shared.txt" }],
      ["Write", { file_path: "shared.txt", content: "new\n" }],
    );
    const id = (await session(all.admin, write, { environment })).slice(-8);
    expect((await capstan(["diff", id], "viewer")).stdout).toMatch(/modified +\+1 -1 +shared\.txt/);
    expect((await capstan(["diff", id, "--by-call"], "viewer")).stdout).toContain("Write");
    expect((await capstan(["diff", id, "--patch"], "viewer")).stdout).toContain("+new");
    expect((await capstan(["checkpoints", id], "viewer")).stdout).toContain("before Write");

    expect((await capstan(["rewind", id, "--to", "start", "--dry-run"], "operator")).stdout).toContain("would change");
    expect((await capstan(["rewind", id, "--to", "start"], "operator")).stdout).toContain("rewound to checkpoint");
    expect((await capstan(["diff", id], "viewer")).stdout).toContain("No files changed.");
    expect((await capstan(["rewind", id, "--undo"], "operator")).stdout).toContain("Rewind undone");

    const patch = join(cli.cwd, "changes.patch");
    expect((await capstan(["export", id, "--patch", patch], "operator")).code).toBe(0);
    expect(readFileSync(patch, "utf8")).toContain("+new");
    expect((await capstan(["export", id, "--patch", "-"], "operator")).stdout).toContain("+new");
    const zip = join(cli.cwd, "files.zip");
    expect((await capstan(["export", id, "--zip", zip], "operator")).code).toBe(0);
    expect(readFileSync(zip).subarray(0, 2).toString()).toBe("PK");

    const applied = await capstan(["apply", id], "operator");
    expect(applied.stdout).toContain(join(all.api.cwd, "shared.txt"));
    expect(readFileSync(join(all.api.cwd, "shared.txt"), "utf8")).toBe("new\n");
    expect((await capstan(["apply", id], "viewer")).code).toBe(2);
  });

  test("spending, models and rules are told", async () => {
    const spent = lines((await capstan(["usage", "--by", "agent", "--json"], "viewer")).stdout);
    expect(spent[0]).toMatchObject({ by: "agent", key: "tester", billing: "paid" });
    expect((await capstan(["usage"], "viewer")).stdout).toContain("days in Europe/Berlin");
    expect((await capstan(["models"], "viewer")).stdout).toContain("claude-opus-4-8");
    await session(all.operator, order(["Bash", { command: "sleep 0" }]));
    const check = await capstan(["policy", "check", "Bash(sleep 5)"], "operator");
    expect(check.stdout).toContain("would be allowed");
    const rules = join(cli.cwd, "rules.yaml");
    writeFileSync(rules, 'permissions:\n  deny: ["Bash(sleep *)"]\n');
    const replayed = await capstan(["policy", "replay", "--rules", rules], "viewer");
    expect(replayed.stdout).toContain("would now be denied");
  });

  test("what is about this machine alone says so, and touches nothing here", async () => {
    using fresh = testCli();
    const against = { environment: environment() };
    const refusals = [
      ["sessions", "import", "x"],
      ["sessions", "delete", "abcd"],
      ["sessions", "recover"],
      ["workspaces"],
      ["backup", "x"],
      ["prune", "--older-than", "1d"],
      ["audit", "verify"],
      ["keys", "list"],
    ].map(async (args) => {
      const refused = await fresh.run(args, against);
      expect(refused.code, args.join(" ")).toBe(2);
      expect(refused.stderr, args.join(" ")).toContain(
        `does not work against a server, and CAPSTAN_URL is set to ${url}`,
      );
    });
    await Promise.all(refusals);
    const project = await fresh.run(["sessions", "list", "--project", "."], against);
    expect(project.code).toBe(2);
    expect(project.stderr).toContain("A key belongs to one project");
    expect(existsSync(join(fresh.home, ".capstan"))).toBe(false);
  });
});

/** With all requests that are made. */
function watchRequests(): { readonly asked: string[]; readonly server: ChosenServer } {
  const asked: string[] = [];
  const counting: typeof fetch = (input, init) => {
    if (typeof input === "string") asked.push(input.slice(url.length));
    return fetch(input, init);
  };
  const client = createClient({ baseUrl: url, apiKey: all.operator.key, fetch: counting });
  return { asked, server: { url, client } };
}

describe("waiting", () => {
  /** A session of their own, so that no other's approval answers. */
  let id: string;
  beforeAll(async () => {
    id = await session(all.operator, "hello");
  });
  const asks = async (name: string): Promise<string> => {
    const content = order(["Bash", { command: `touch ${name}` }]);
    await all.operator.post(`/api/sessions/${id}/messages`, { content });
    const { body } = await all.viewer.get(`/api/approvals?status=pending&session_id=${id}&wait=30`);
    await idle(all.viewer, id);
    return body.data[0].id as string;
  };

  test("for an approval is one request, which the server answers when there is one", async () => {
    const { asked, server } = watchRequests();
    await using records = remoteRecords(server);
    const signal = new AbortController().signal;
    const waiting = records.awaitApprovals({ sessionId: id }, { until: Infinity, signal });
    await all.operator.post(`/api/sessions/${id}/messages`, { content: order(["Bash", { command: "touch w.txt" }]) });
    expect(await waiting).toMatchObject([{ sessionId: id, status: "pending" }]);
    expect(asked).toEqual([`/api/approvals?status=pending&session_id=${id}&wait=30`]);
    await all.operator.post(`/api/sessions/${id}/interrupt`);
    expect(await records.awaitApprovals({ sessionId: id }, { until: 0, signal })).toEqual([]);
    const leaving = new AbortController();
    const left = records.awaitApprovals({ sessionId: id }, { until: Infinity, signal: leaving.signal });
    leaving.abort();
    expect(await left).toEqual([]);
  });

  test("for somebody else's answer is one request as well, and the stream tells that the turn goes on", async () => {
    const { asked, server } = watchRequests();
    const approval = await asks("v.txt");
    const there = new RemoteSession(server.client, await server.client.sessions.get(id));
    asked.length = 0;
    using watch = watchApproval(remoteHost(server), approval, new AbortController().signal);
    const closed = new Promise((done) => watch.signal.addEventListener("abort", done));
    await all.operator.post(`/api/approvals/${approval}/answer`, { behavior: "allow" });
    await closed;
    expect(asked).toEqual([`/api/approvals/${approval}?wait=30`]);
    expect(await there.continues()).toBe(true);
    await until(() => existsSync(join(all.api.cwd, "v.txt")), Boolean);
    await until(
      () => idle(all.viewer, id),
      ({ state }) => state.stop_reason.type === "end_turn",
    );
  });

  test("for a turn that has nothing to go on with ends", async () => {
    const { server } = watchRequests();
    await asks("u.txt");
    const there = new RemoteSession(server.client, await server.client.sessions.get(id));
    expect(await there.continues()).toBe(false);
    await all.operator.post(`/api/sessions/${id}/interrupt`);
    expect(await there.continues()).toBe(true);
  });
});

/** With some of the variables wrong. */
const wrong = async (more: Record<string, string>, args: readonly string[] = ["sessions"]): Promise<CliResult> =>
  cli.run(args, { environment: { ...environment(), ...more } });

describe("failures", () => {
  test("a server that is not there: exit code 3, with its address", async () => {
    const gone = await wrong({ CAPSTAN_URL: "http://127.0.0.1:9" });
    expect(gone.code).toBe(3);
    expect(gone.stderr).toMatch(/^capstan: No response from http:\/\/127\.0\.0\.1:9: .*\n$/);
    expect((await wrong({ CAPSTAN_URL: "http://127.0.0.1:9" }, ["run", "hello"])).code).toBe(3);
  });

  test("a wrong key, a wrong role, and settings that are wrong: exit code 2, with the next step", async () => {
    const key = await wrong({ CAPSTAN_KEY: `ck_${"x".repeat(43)}` });
    expect(key.code).toBe(2);
    expect(key.stderr).toContain("does not know the key");
    const role = await capstan(["run", "hello"], "viewer");
    expect(role.code).toBe(2);
    expect(role.stderr).toContain("requires a key with the role operator");
    expect((await wrong({ CAPSTAN_KEY: "" })).stderr).toContain("CAPSTAN_KEY is not set");
    expect((await wrong({ CAPSTAN_URL: "localhost:4310" })).stderr).toContain("Set it to an address");
    expect((await wrong({ CAPSTAN_URL: "ftp://example.org" })).code).toBe(2);
    const password = await wrong({ CAPSTAN_URL: "http://me:secret@127.0.0.1:1" });
    expect(password.code).toBe(2);
    expect(password.stderr).not.toContain("secret");
  });

  test("what is not there: exit code 2", async () => {
    for (const args of [
      ["sessions", "show", "not-there"],
      ["diff", "not-there"],
      ["approvals", "show", "not-there"],
    ]) {
      const missing = await capstan(args, "viewer");
      expect(missing.code, args.join(" ")).toBe(2);
      expect(missing.stderr, args.join(" ")).toContain("not-there");
    }
  });
});
