import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import { sandboxTest } from "../../support/hostile-world.ts";
import { PATIENT, testShell } from "./test-shell.ts";

sandboxTest("a command writes in the workspace and the temporary directory alone", async () => {
  const { run, at } = await testShell({ sandbox: {} });
  for (const path of ["ws/.git/hooks", "ws/.capstan"]) mkdirSync(at(path), { recursive: true });
  writeFileSync(at("ws/.capstan/config.yaml"), "");
  const refused = [
    "echo x > .git/hooks/pre-commit",
    "echo x > .capstan/settings.yaml",
    "mv .capstan moved",
    "echo x > .bashrc",
    "mkdir -p .claude && echo x > .claude/settings.json",
    `echo x > ${at("home/file")}`,
    `echo x > ${at("capstan/state/home/.bashrc")}`,
    'echo x > "$HOME/.gitconfig"',
    `echo x > ${at("capstan/state/shell/outputs/x")}`,
    "echo x > /etc/capstan-test",
  ];
  const { text } = await run(
    [
      ...refused.map((line, index) => `(${line}) 2>/dev/null && echo did-${index}`),
      "echo x > fine; echo x > $TMPDIR/fine",
    ].join("\n"),
  );
  expect(text).not.toContain("did-");
  expect(existsSync(at("ws/fine")) && existsSync(at("tmp/fine"))).toBe(true);
  expect(existsSync(at("home/file"))).toBe(false);
  // What is hidden is an empty place, and what is written there goes with the command.
  await run("cd .git");
  await run(
    `echo x > ${at("capstan/file")}; mkdir -p ${at("capstan/state/shell")}; echo x > ${at("capstan/state/shell/state.json")}`,
  );
  expect(existsSync(at("capstan/file"))).toBe(false);
  expect(JSON.parse(readFileSync(at("capstan/state/shell/state.json"), "utf8"))).toEqual({
    primary: { directory: at("ws/.git") },
  });
  // What stood in for files that must not be made is gone again.
  await expect.poll(() => readdirSync(at("ws")).toSorted(), PATIENT).toEqual([".capstan", ".git", "fine"]);
});

sandboxTest("a command reads neither secrets of the project, also new ones, nor files of the host", async () => {
  const { run, at } = await testShell({ sandbox: {} });
  writeFileSync(at("ws/.env"), "secret-1");
  writeFileSync(at("capstan/key"), "secret-2");
  writeFileSync(at("ws/plain"), "open");
  expect((await run(`cat .env plain ${at("capstan/key")}`)).text).toMatch(/^Exit code 1\nopen\n/);
  mkdirSync(at("ws/deep"));
  writeFileSync(at("ws/deep/server.key"), "secret-3");
  const { text } = await run(
    `cat deep/server.key; cat ${at("capstan/state/shell/state.json")}; ls ${at("capstan/state/shell")}`,
  );
  expect(text).not.toContain("secret-3");
  expect(text).not.toContain("state.json\n");
});

sandboxTest("a command has no network, whatever domains are allowed", async () => {
  const server = createServer((_request, response) => response.end("reached")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const ask = `exec 3<>/dev/tcp/127.0.0.1/${port}; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3`;
  try {
    expect((await (await testShell()).run(ask)).text).toContain("reached");
    const { run, tool } = await testShell({ sandbox: { network: { allow: ["localhost", "example.com"] } } });
    const ran = await run(ask, { input: { dangerouslyDisableSandbox: true } });
    expect(ran).toMatchObject({ isError: true, text: expect.stringContaining("Connection refused") as string });
    expect(tool("Bash").description).toContain("have no network");
  } finally {
    server.close();
  }
});

sandboxTest("a command sees no process but its own, and none of the variables that are hidden", async () => {
  const { run } = await testShell({
    sandbox: { hide_variables: ["HIDDEN"] },
    variables: { HIDDEN: "x", MY_TOKEN: "y", OPEN: "z" },
  });
  await run("sleep 1000", { input: { run_in_background: true } });
  const { text } = await run(
    'echo "$HIDDEN$MY_TOKEN$OPEN"; cat /proc/[0-9]*/cmdline | tr "\\0" " "; cat /proc/[0-9]*/environ | tr "\\0" "\\n"',
  );
  expect(text).toMatch(/^z\n/);
  expect(text).not.toMatch(/sleep 1000|HIDDEN=|MY_TOKEN=|ANTHROPIC|setpriv/);
});

sandboxTest("the directory survives, and so does what runs in the background; variables do not", async () => {
  const { run, at, bash } = await testShell({ sandbox: {} });
  await run("mkdir deep; cd deep; export COLOUR=blue");
  expect((await run('pwd; echo "${COLOUR-unset}"')).text).toBe(`${at("ws/deep")}\nunset`);
  const { text } = await run("echo started; sleep 1000", { input: { run_in_background: true } });
  const file = /written to: (\S+)\.$/.exec(text)?.[1] ?? "";
  await expect.poll(() => readFileSync(file, "utf8"), PATIENT).toBe("started\n");
  expect((await run(`cat ${file}`)).text).toBe("started");
  expect(bash.pids()).not.toEqual([]);
});

sandboxTest("what a command leaves behind ends with it", async () => {
  const { run, bash } = await testShell({ sandbox: {} });
  expect((await run("setsid sleep 1000 & echo left")).text).toBe("left");
  await expect.poll(() => bash.pids(), PATIENT).toEqual([]);
});
