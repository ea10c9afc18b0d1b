import { afterAll, describe, expect, test } from "vitest";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { subjectOf } from "../../src/runtime/subject/call-subject.ts";
import { decideCall, type Situation } from "../core/permission/subjects.ts";

/** Ways to name a file covered by a deny rule without writing its name. */
const cwd = realpathSync(mkdtempSync(join(tmpdir(), "shell-paths-")));
for (const directory of ["secrets", "src/deep", "safe", ".hidden"])
  mkdirSync(join(cwd, directory), { recursive: true });
for (const file of ["secrets/key", "src/a.ts", "src/b.ts", "safe/key", ".hidden/key", "-o"])
  writeFileSync(join(cwd, file), "");
symlinkSync("secrets", join(cwd, "link"));
afterAll(() => rmSync(cwd, { recursive: true }));

/** What `~` is to the session's commands, while rules mean the person's home. */
const shellHome = join(cwd, "state", "home");

function behavior(command: string, situation: Situation): string {
  return decideCall(
    subjectOf({ tool: "Bash", input: { command } }, { cwd, home: join(cwd, "home"), shellHome }),
    situation,
  ).behavior;
}

const rules: Situation = {
  allow: [
    "cat",
    "head",
    "cd",
    "echo",
    "for",
    "tar",
    "grep",
    "cp",
    "rg",
    "mv",
    "rm",
    "xargs",
    "find",
    "ls",
    "popd",
    "pushd",
  ].map((name) => `Bash(${name} *)`),
  deny: ["Read(./secrets/**)"],
};

/** command, what is decided */
const TABLE: readonly [command: string, decided: string][] = [
  ["cat sec*/key", "deny"],
  ["cat */key", "deny"],
  ["cat [a-z]*/key", "deny"],
  ["cat ?ecrets/key", "deny"],
  ["cat ./s*/k??", "deny"],
  ["cat lin*/key", "deny"],
  ["cat secret[r-t]/key", "deny"],
  ["cat {secrets,src}/key", "deny"],
  ["cat secret{s,}/key", "deny"],
  ["cat s{e..f}crets/key", "deny"],
  ["x=secrets; cat $x/key", "deny"],
  ['x=secrets; cat "$x/key"', "deny"],
  ["x=sec; cat ${x}rets/key", "deny"],
  ["x='sec*'; cat $x/key", "deny"],
  ["x=sec; y=${x}rets; cat $y/key", "deny"],
  ["for x in src secrets; do cat $x/key; done", "deny"],
  ["for x in s*; do cat $x/key; done", "deny"],
  ['for x in s*/k*; do cat "$x"; done', "deny"],
  ["cd src && cat ../sec*/key", "deny"],
  ["cd sec* && cat key", "deny"],
  ['cat "$PWD/secrets/key"', "deny"],
  ["cat ~/../../secrets/key", "deny"],
  ['cat "$HOME/../../secrets/key"', "deny"],
  ["cd && cat ../../secrets/key", "deny"],
  ["cd src && cd - && cat secrets/key", "deny"],
  ["head -n1 src/../sec*/key", "deny"],
  // It is unknown what these name.
  ["cat $x/key", "ask"],
  ['cat "$1"', "ask"],
  ["cat $(echo sec)rets/key", "ask"],
  ["cat ~root/x", "ask"],
  ["x=$y; cat $x", "ask"],
  ["x='a b'; cat $x", "ask"],
  ["read x; cat $x", "ask"],
  ["ls | xargs cat", "ask"],
  ["cd $x && cat key", "ask"],
  ["cat < ~/../../secrets/key", "ask"],
  // It is unknown where these run.
  ["cd - && cat etc/passwd", "ask"],
  ["cd src; cd -; cat passwd", "ask"],
  ["cd -P - && cat passwd", "ask"],
  ["popd && cat passwd", "ask"],
  ["x=-; cd $x; cat passwd", "ask"],
  ["cd {-,}; cat passwd", "ask"],
  ["x=/etc; cd $x; cat passwd", "ask"],
  ["cd /et* && cat passwd", "ask"],
  ["pushd && cat passwd", "ask"],
  ["pushd -0 && cat passwd", "ask"],
  ["for i in 1 2; do cat passwd; cd -; done", "ask"],
  // These process whole directories.
  ["tar czf a.tgz .", "ask"],
  ["grep -rn key .", "ask"],
  ["grep -R key", "ask"],
  ["rg key", "ask"],
  ["cp -r . safe", "ask"],
  ["find . -name key -exec cat {} +", "ask"],
  ["mv $PWD x", "ask"],
  ["tar czf a.tgz sec*", "deny"],
  // These avoid the file.
  ["cat s*/a.ts", "allow"],
  ["cat src/*.ts", "allow"],
  ["cat src/{a,b}.ts", "allow"],
  ["x=src; cat $x/a.ts", "allow"],
  ['for f in src/*.ts; do cat "$f"; done', "allow"],
  ["cat *.ts", "allow"],
  ['cat "sec*/key"', "allow"],
  ["cat 'sec*/key' src/a.ts", "allow"],
  ["cat .h*/key", "allow"],
  ['echo "$x"', "allow"],
  ["cd src && cat a.ts && cd -", "allow"],
  ['cd "$HOME/src" && cat a.ts', "allow"],
  ["cd ~/src && cat a.ts", "allow"],
  ["tar czf a.tgz src", "allow"],
  ["grep -rn key src", "allow"],
  ["grep key src/a.ts", "allow"],
  ["rm -r safe", "allow"],
  ["find . -name key", "allow"],
];

describe("a name that is built when the command runs", () => {
  test.each(TABLE)("%s: %s", (command, expected) => {
    expect(behavior(command, rules)).toBe(expected);
    // Without the rule all of them are allowed, or asked about for another reason; yolo asks as well.
    const inYolo = behavior(command, { deny: rules.deny ?? [], mode: "yolo" });
    expect(inYolo).toBe(expected);
  });

  test("a hidden file does not hide another one from a rule", () => {
    expect(behavior("cat */key", { ...rules, deny: ["Read(./.hidden/**)"] })).toBe("allow");
    expect(behavior("cat .*/key", { ...rules, deny: ["Read(./.hidden/**)"] })).toBe("deny");
    expect(behavior("shopt -s dotglob; cat */key", { deny: ["Read(./.hidden/**)"], mode: "yolo" })).toBe("ask");
  });

  test("a path in one home does not allow one in the other, and the question names the unknown part", () => {
    expect(behavior("echo x > ~/a", { allow: ["Bash(echo *)", "Edit(~/a)"] })).toBe("ask");
    expect(behavior("cat ~/a", { ...rules, deny: ["Read(~/a)"] })).toBe("deny");
    const call = { tool: "Bash", input: { command: "cd - && cat etc/passwd" } };
    const { reason } = decideCall(subjectOf(call, { cwd, home: join(cwd, "home"), shellHome }), rules);
    expect(reason).toContain("`cd -`");
  });

  test("asks if there are too many files to check", () => {
    const many = mkdtempSync(join(cwd, "many-"));
    for (let index = 0; index < 1_200; index++) writeFileSync(join(many, `f${index}`), "");
    expect(behavior(`cat ${many}/*`, rules)).toBe("ask");
    rmSync(many, { recursive: true });
  });

  test("asks before deleting everything in a directory if a rule denies edits there", () => {
    expect(behavior("rm -r .", { ...rules, deny: ["Edit(./secrets/**)"] })).toBe("ask");
    expect(behavior("rm -r safe", { ...rules, deny: ["Edit(./secrets/**)"] })).toBe("allow");
  });
});
