import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import { decide, type PermissionVerdict } from "../../src/core/permission/decide.ts";
import { compileRules } from "../../src/core/permission/rule-set.ts";
import { subjectOf } from "../../src/runtime/subject/call-subject.ts";
import { guardCall, guardedPaths } from "../../src/runtime/subject/guard-call.ts";

const ACTS = { readOnly: false, edit: false, safeInternal: false };
const RULES = compileRules({ allow: [], ask: [], deny: [] });

/** A person's project, and Capstan's home under a name that shows nothing. */
function world() {
  const root = mkdtempSync(join(tmpdir(), "capstan-lines-"));
  const home = join(root, "person");
  const cwd = join(home, "project");
  const capstanHome = join(root, "capstan-home");
  const shellHome = join(capstanHome, "sessions", "sess_1", "home");
  for (const directory of [join(cwd, "src"), join(cwd, ".capstan"), shellHome])
    mkdirSync(directory, { recursive: true });
  const settings = [join(capstanHome, "config.yaml"), join(cwd, ".capstan", "config.yaml"), join(cwd, ".env")];
  for (const file of settings) writeFileSync(file, "orig\n");
  for (const name of ["a", "config.yaml"]) writeFileSync(join(cwd, name), "EVIL\n");
  execFileSync("git", ["init", "-q", cwd]);
  execFileSync("tar", ["cf", "a.tar", "config.yaml"], { cwd });
  const places = guardedPaths({ cwd, capstanHome, agent: parseAgent({ name: "worker", model: "claude-opus-4-8" }) });
  return {
    decided(command: string): PermissionVerdict {
      const call = { tool: "Bash", input: { command } };
      const subject = guardCall(subjectOf(call, { cwd, home, shellHome }), call, places);
      const query = { enabled: true, mode: "yolo", rules: RULES, traits: ACTS, sandboxed: true, grants: [] } as const;
      return decide({ ...query, subject });
    },
    run(command: string): void {
      const env = { PATH: process.env["PATH"], HOME: shellHome };
      try {
        execFileSync("bash", ["-c", command], { cwd, env, stdio: "ignore" });
      } catch {
        // A line may fail after it has written.
      }
    },
    isChanged: (): boolean =>
      settings.some((file) => !existsSync(file) || readFileSync(file, "utf8") !== "orig\n") ||
      existsSync(join(cwd, ".capstan", "a")),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

describe("a command line with which bash reaches configuration", () => {
  test.each([
    "HOME=../../capstan-home; cp a ~/config.yaml",
    "HOME=$PWD/../..; cp a ~/capstan-home/config.yaml",
    "HOME=$(cd ../..; pwd); cp a ~/capstan-home/config.yaml",
    "cd src; cp ../a ~-/../../capstan-home/config.yaml",
    "cd ../../capstan-home; cd ../person/project; cp a ~-/config.yaml",
    "pushd src; cp ../a ~1/../../capstan-home/config.yaml",
    "pushd -n ../../capstan-home; cp a ~1/config.yaml",
    "cd src; cp ../a $OLDPWD/../../capstan-home/config.yaml",
    'cp a "${HOME%/*/*/*}/config.yaml"',
    'cp config.yaml "$(dirname $(dirname $(dirname $HOME)))"',
    'd="${HOME%/*/*/*}"; cp config.yaml "$d"',
    'd=$(dirname "$HOME"); cp a "$d/../../config.yaml"',
    "cp a ${PWD%/*/*}/capstan-home/config.yaml",
    "cp a $(realpath ../..)/capstan-home/config.yaml",
    "dd if=a of=$x../../capstan-home/config.yaml",
    'dd if=a of="$(cd ../..; pwd)/capstan-home/config.yaml"',
    "f() { cp a ../../$1/config.yaml; }; f capstan-home",
    'for d in ../../*; do cp a "$d/config.yaml"; done',
    "printf -v x '%s%s' ../../capstan- home/config.yaml; cp a \"$x\"",
    "read -r x <<< ../../capstan-home/config.yaml; cp a $x",
    'read x y <<< "../../capstan-home config"; cp a $x/$y.yaml',
    "x=(../../capstan-home config.yaml); cp a ${x[0]}/${x[1]}",
    "declare -n r=y; r=../../capstan-home/config.yaml; cp a $y",
    "cp a ${x:-.env}",
    "cp a ${x:-.e}nv",
    'echo x > "${x:-.e}nv"',
    "sed -n 'w ../../capstan-home/config.yaml' a",
    "sed 's/E/E/w ../../capstan-home/config.yaml' a",
    "awk '{print > \"../../capstan-home/config.yaml\"}' a",
    "awk 'BEGIN{system(\"cp a ../../capstan-home/config.yaml\")}'",
    "sort -o../../capstan-home/config.yaml a",
    "sed -i'.capstan/*' s/E/F/ a",
    "find ../.. -name config.yaml -exec cp a {} ';'",
    "find ../.. -maxdepth 1 -name 'cap*' -exec cp a {}/config.yaml ';'",
    "find ../.. -name config.yaml | xargs -n1 cp a",
    "find ../.. -name config.yaml | while read f; do cp a $f; done",
    "cd ../..; find . -name config.yaml -exec cp /etc/hostname {} ';'",
    "find . -name '.e*' -delete",
    "find . -depth -name .capstan -prune -o -type f -exec sed -i s/orig/x/ {} +",
    "find . -not -name .capstan -type f -exec sed -i s/orig/x/ {} +",
    "find . -not -name .ENV -maxdepth 1 -type f -exec sed -i s/orig/x/ {} +",
    "find . ! '(' -type f -name b ')' -type f -exec sed -i s/orig/x/ {} +",
    "find . -type f -exec sed -i s/orig/x/ {} +",
    "find $PWD -type f -exec sed -i s/orig/x/ {} +",
    "x=.; find $x -type f -exec sed -i s/orig/x/ {} +",
    "find . -type f | xargs -I% sed -i s/orig/x/ %",
    "find -type f -exec sh -c 'sed -i s/orig/x/ \"$1\"' _ {} ';'",
    "while read f; do sed -i s/orig/x/ $f; done < <(find . -type f)",
    "grep -rl orig . | xargs sed -i s/orig/EVIL/",
    "grep -rl orig | xargs sed -i s/orig/EVIL/",
    "sed -i s/orig/x/ $(grep -rl orig)",
    "for f in $(grep -rl orig ../..); do cp a $f; done",
    'cp a "$(ls -A | grep env)"',
    "shopt -s dotglob; for f in *; do cp a $f; done",
    "bash -O dotglob -c 'for f in *; do [ -f $f ] && cp a $f; done'",
    "env -C ../../capstan-home cp /etc/hostname config.yaml",
    "CDPATH=../..; cd capstan-home; cp /etc/hostname config.yaml",
    "ln -s ../.. l; cp a l/capstan-home/config.yaml",
    "ln .env h; cp a h",
    "git add config.yaml; git --work-tree=../../capstan-home checkout-index -f -a",
    "git add config.yaml; git checkout-index -f --prefix=.capstan/ config.yaml",
    "tar xf a.tar --transform=s,c,.capstan/c,",
    "exec {fd}> ../../capstan-home/config.yaml; echo x >&$fd",
    "tee >(cat > ../../capstan-home/config.yaml) < a; sleep 0.2",
    "echo ../../capstan-home | xargs -I% cp config.yaml %",
    'set -- a ../../capstan-home/config.yaml; cp "$@"',
    "trap 'cp a ../../capstan-home/config.yaml' EXIT",
    "cp a /proc/self/cwd/.env",
    "sed -n w.env a",
    "sed s/E/F/w.env a",
    "sed -n 'w../../capstan-home/config.yaml' a",
    "patch -p1 <<E\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-orig\n+x\nE",
    "git apply <<E\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-orig\n+x\nE",
    "make -f - <<< 'x:;cp a .env'",
    "xargs cp a <<E\n.env\nE",
    "git clean -fdq",
    "git add a; git -c user.name=a -c user.email=a@b commit -qm a; git -c user.name=a -c user.email=a@b stash -qu",
  ])("asks a person in yolo mode: %s", (line) => {
    using place = world();
    expect(place.decided(line)).toMatchObject({ behavior: "ask", rememberable: false });
    expect(place.decided(line).decidedBy).toMatch(/^protected:/);
    place.run(line);
    expect(place.isChanged()).toBe(true);
  });
});

describe("a command line that does not touch configuration", () => {
  test.each([
    "find . -name '*.ts' -exec sed -i s/orig/x/ {} +",
    "find . '(' -name '*.ts' -o -name '*.js' ')' -exec sed -i s/orig/x/ {} +",
    "find src -type f -exec sed -i s/orig/x/ {} +",
    "find . -name '*.pyc' -delete",
    "find . -type f -exec grep -l orig {} +",
    "grep -rl orig src | xargs sed -i s/orig/x/",
    "grep -rl orig . | xargs cat",
    "grep -rl --include='*.ts' orig . | xargs -r sed -i s/orig/x/",
    'for f in *.txt; do mv "$f" "${f%.txt}.md"; done',
    'for f in src/*; do sed -i s/orig/x/ "$f"; done',
    "git grep -l orig | xargs -r sed -i s/orig/x/",
    'ls -la && cp a "$OUT/report.txt"',
    'tmp=$(mktemp -d) && cp a "$tmp/a" && rm -r "$tmp"',
    'export PATH="$HOME/.local/bin:$PATH"; cp a b',
    "HOME=$(mktemp -d) git status",
    "sed -i 's,/usr/local,/opt,' a",
    "awk '/EVIL/ {print > \"out.txt\"}' a",
    "cp a src/$NAME/config.yaml",
    "git commit -qm 'See ../../capstan-home/config.yaml'",
    "git commit -q -F - <<E\nSee .env\nE",
    "git clean -ndx",
    "git stash list",
    "sed -n 'w new.env' a",
  ])("is allowed in yolo mode: %s", (line) => {
    using place = world();
    expect(place.decided(line)).toMatchObject({ behavior: "allow" });
    place.run(line);
    expect(place.isChanged()).toBe(false);
  });
});
