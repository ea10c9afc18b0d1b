import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { MODES, parseAgent } from "../../src/core/agent/agent-definition.ts";
import { decide, type PermissionVerdict } from "../../src/core/permission/decide.ts";
import { protectedIn } from "../../src/core/permission/protected/in-call.ts";
import { PROTECTED } from "../../src/core/permission/protected/table.ts";
import { parseRule } from "../../src/core/rules/rule.ts";
import { compileRules } from "../../src/core/permission/rule-set.ts";
import type { ToolTraits } from "../../src/core/rules/subject.ts";
import { suggestRules } from "../../src/core/permission/suggest.ts";
import { subjectOf } from "../../src/runtime/subject/call-subject.ts";
import { guardCall, guardedPaths } from "../../src/runtime/subject/guard-call.ts";

/** A person's home with a project, in which an agent works on a worktree of another repository. */
const root = mkdtempSync(join(tmpdir(), "capstan-protected-"));
const home = join(root, "person");
const cwd = join(home, "project");
const capstanHome = join(root, "capstan-home");
const repository = join(root, "main.git");
const own = join(repository, "worktrees", "project");
for (const directory of [join(cwd, "src"), join(cwd, "hooks"), join(cwd, "sub", ".capstan"), capstanHome, own])
  mkdirSync(directory, { recursive: true });
writeFileSync(join(cwd, ".git"), `gitdir: ${own}\n`);
writeFileSync(join(own, "commondir"), "../..\n");
writeFileSync(join(own, "gitdir"), `${join(cwd, ".git")}\n`);
writeFileSync(join(cwd, "hooks", "check.mjs"), "");
writeFileSync(join(cwd, "review.yaml"), "name: review\ninstructions: Review the code.\n");
writeFileSync(join(cwd, "compose.yaml"), "services: {}\n");
writeFileSync(join(cwd, ".npmrc"), "ignore-scripts=true\n");
linkSync(join(cwd, ".npmrc"), join(cwd, "second-name.txt"));
mkdirSync(join(cwd, ".vscode"));
writeFileSync(join(cwd, ".vscode", "tasks.json"), "{}\n");
linkSync(join(cwd, ".vscode", "tasks.json"), join(cwd, "third-name.txt"));
for (const name of ["bare", "half"])
  for (const part of ["objects", "refs"]) mkdirSync(join(cwd, name, part), { recursive: true });
writeFileSync(join(cwd, "bare", "HEAD"), "ref: refs/heads/main\n");
symlinkSync(home, join(cwd, "up"));
symlinkSync(join(cwd, "sub", ".capstan"), join(cwd, "settings"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const agent = parseAgent({
  name: "worker",
  model: "claude-opus-4-8",
  hooks: { before_tool: [{ command: "node hooks/check.mjs" }] },
});
/** What `~` is to the session's commands. */
const shellHome = join(capstanHome, "sessions", "sess_1", "home");
mkdirSync(shellHome, { recursive: true });
symlinkSync(capstanHome, join(shellHome, "link"));
const places = guardedPaths({ cwd, agent, capstanHome });

/** For each row, a file that falls under it: there or not, at the top or deep below. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  "**/.capstan/": [".capstan/config.yaml", "src/deep/.capstan/agents/a.yaml", "../.capstan/config.yaml", ".CAPSTAN/x"],
  "$CAPSTAN_HOME/": [join(capstanHome, "config.yaml")],
  "**/.env*": [".env", ".env.local", "src/.envrc", ".ENV", "up/project/.env"],
  "**/agent.yaml": ["agent.yaml", "agents/review/agent.yaml"],
  "**/agent.yml": ["agent.yml"],
  "**/*.agent.yaml": ["review.agent.yaml"],
  "**/*.agent.yml": ["review.agent.yml"],
  $AGENT: ["review.yaml", "hooks/check.mjs"],
  "**/*.test.yaml": ["tests/first.test.yaml"],
  "**/*.test.yml": ["first.test.yml"],
  "**/.claude/": [".claude/settings.json", "src/.claude/agents/x.md"],
  "**/.claude.json": [".claude.json"],
  "**/.mcp.json": [".mcp.json", ".mcp.json\u200b"],
  "**/.ripgreprc": [".ripgreprc"],
  "**/.git/": [".git", "src/.git/config", "vendor/.GIT/hooks/pre-commit", "src/.g\u200cit/config", "git~1/config"],
  "$GIT_DIR/": [join(own, "config"), join(repository, "config")],
  "$REPOSITORY/": ["bare/config", "bare/hooks/pre-commit", "bare/info/attributes", "half/HEAD", "up/project/half/HEAD"],
  "**/.gitconfig": ["../.gitconfig"],
  "~/.config/git/": ["~/.config/git/config"],
  "~/.ssh/": ["~/.ssh/config", "up/.ssh/authorized_keys"],
  "**/.gitattributes": [".gitattributes", "src/.gitattributes"],
  "**/.gitmodules": [".gitmodules"],
  "**/.husky/": [".husky/pre-commit"],
  "**/.pre-commit-config.yaml": [".pre-commit-config.yaml"],
  "**/lefthook.yml": ["lefthook.yml"],
  "**/.lefthook.yml": [".lefthook.yml"],
  "**/.npmrc": [".npmrc", "second-name.txt"],
  "**/.yarnrc*": [".yarnrc.yml"],
  "**/.pnpmfile.*": [".pnpmfile.cjs"],
  "**/.bashrc": ["~/.bashrc", ".bashrc"],
  "**/.bash_*": ["~/.bash_profile"],
  "**/.profile": ["~/.profile"],
  "**/.zsh*": ["~/.zshrc", "~/.zshenv"],
  "**/.zprofile": ["~/.zprofile"],
  "**/.zlog*": ["~/.zlogin"],
  "**/.inputrc": ["~/.inputrc"],
  "~/.config/fish/": ["~/.config/fish/config.fish"],
  "**/.vscode/": [".vscode/tasks.json", "src/.VSCode/settings.json", "third-name.txt"],
  "**/.idea/": [".idea/workspace.xml", "src/.idea/runConfigurations/x.xml"],
};

const ACTS: ToolTraits = { readOnly: false, edit: false, safeInternal: false };
const EDITS: ToolTraits = { ...ACTS, edit: true };

interface Call {
  readonly directory?: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly traits: ToolTraits;
  readonly engineTool?: boolean;
}

const command = (line: string): Call => ({ tool: "Bash", input: { command: line }, traits: ACTS });

/** Every way to write a file that a call shows. Subagents use the same calls. */
function writers(file: string): readonly Call[] {
  const quoted = file.startsWith("~") ? file : `'${file}'`;
  return [
    { tool: "Write", input: { file_path: file, content: "x" }, traits: EDITS },
    { tool: "Edit", input: { file_path: file, old_string: "a", new_string: "b" }, traits: EDITS },
    { tool: "NotebookEdit", input: { notebook_path: file, new_source: "x" }, traits: EDITS },
    { tool: "mcp__files__write", input: { target: { path: file.replace(/^~/, home) } }, traits: ACTS },
    { tool: "save", input: { list: [file.replace(/^~/, home)] }, traits: ACTS, engineTool: false },
    ...[
      `echo x > ${quoted}`,
      `echo x >> ${quoted}`,
      `cp x ${quoted}`,
      `mv x ${quoted}`,
      `ln -sf x ${quoted}`,
      `echo x | tee ${quoted}`,
      `sed -i s/a/b/ ${quoted}`,
      `install -m 644 x ${quoted}`,
      `dd if=x of=${quoted}`,
      `true && bash -c "cp x ${quoted}"`,
      `find . -name x -exec cp {} ${quoted} ';'`,
      `rm -f ${quoted}`,
    ].map(command),
  ];
}

/** With every rule and grant that could allow it, and in a sandbox that would. */
function decideProtected(
  { tool, input, traits, directory, engineTool = true }: Call,
  mode: (typeof MODES)[number],
): PermissionVerdict {
  const call = { tool, input, engineTool, ...(directory !== undefined && { directory }) };
  const subject = guardCall(subjectOf(call, { cwd, home, shellHome }), call, places);
  const allow = ["Bash", "Edit", "Write", "mcp__files", ...(tool.startsWith("mcp__") || tool === "Bash" ? [] : [tool])];
  return decide({
    enabled: true,
    mode,
    rules: compileRules({ allow, ask: [], deny: [] }),
    traits,
    subject,
    sandboxed: true,
    grants: [...allow, ...suggestRules(subject)].map((rule, at) => ({ id: `grnt_${at}`, rule: parseRule(rule) })),
  });
}

const shown = ({ tool, input }: Call): string => `${tool} ${JSON.stringify(input)}`;

test("the matrix has files for every row of the table", () => {
  expect(Object.keys(FILES)).toEqual(PROTECTED.map(({ pattern }) => pattern));
});

describe("a write to configuration", () => {
  test.each(MODES)("asks a person in mode %s, despite all rules and grants, and is never remembered", (mode) => {
    const wrong: string[] = [];
    for (const call of Object.values(FILES).flat().flatMap(writers)) {
      const { behavior, rememberable, decidedBy } = decideProtected(call, mode);
      const isDenied = mode === "read-only" || mode === "plan";
      const isRight = isDenied
        ? behavior === "deny"
        : behavior === "ask" && !rememberable && decidedBy.startsWith("protected:");
      if (!isRight) wrong.push(`${shown(call)}: ${behavior} by ${decidedBy}`);
    }
    expect(wrong).toEqual([]);
  });

  test("names the row that it falls under", () => {
    for (const [pattern, files] of Object.entries(FILES))
      for (const file of files)
        expect([
          file,
          decideProtected({ tool: "Write", input: { file_path: file }, traits: EDITS }, "yolo").decidedBy,
        ]).toEqual([file, `protected:${pattern}`]);
  });

  test.each([
    "echo x > config.yaml",
    "cp ../x config.yaml",
    "mv config.yaml x",
    `python3 -c "open('config.yaml', 'w')"`,
    "./write-config",
  ])("asks about a command after an earlier one moved to configuration: %s", (line) => {
    const call = { ...command(line), directory: join(cwd, "sub", ".capstan") };
    expect(decideProtected(call, "yolo")).toMatchObject({ behavior: "ask", rememberable: false });
  });

  test.each([
    "cd .capstan && echo x > config.yaml",
    "cd .capstan && cp ../x config.yaml",
    "mkdir -p src/a/.capstan",
    "mkdir .capstan; cd .capstan; touch config.yaml",
    "echo x > .cap*/config.yaml",
    "rm -rf .c*",
    "rm -rf .[c]apstan",
    "cp x .env$SUFFIX",
    "cp x {.capstan,src}/config.yaml",
    "cp x .{env,x}",
    "f=.capstan; echo x > $f/config.yaml",
    'f=.e; echo x > "$f"nv',
    "f=stan; echo x > .cap$f/config.yaml",
    "git log -1 --format=%B --output=.capstan/config.yaml",
    "git diff --outpu .env",
    "git -C .capstan show --output=config.yaml HEAD",
    "git log --output-directory=.husky",
    "for f in .capstan/*; do rm $f; done",
    "find .capstan -type f | xargs rm",
    "find .capstan -delete",
    "python3 -c \"open('.capstan/config.yaml', 'w')\"",
    "node -e \"fs.writeFileSync('.env', '')\"",
    'eval "echo x > .env"',
    'echo x > .cap""stan/config.yaml',
    "cp x settings/config.yaml",
    "echo x > settings/config.yaml",
    "mv sub elsewhere",
    "mv ../project ../other",
    "rm -rf .",
    "cd .. && mv project other",
    "mv --target-directory=../elsewhere -- ../project",
    "cp x ~/../../../config.yaml",
    'cp x "$HOME/../../../config.yaml"',
    "cp x ${HOME}/../../../config.yaml",
    "cp x --target-directory=$HOME/../../..",
    "f=~/../../..; cp x $f/config.yaml",
    "echo x > ~/../../../config.yaml",
    'echo x > "$HOME/../../../config.yaml"',
    "cd && echo x > ../../../config.yaml",
    "cd && cp x ../../../config.yaml",
    "cd ~/.. && cp x ../../config.yaml",
    "cp x ~/link/config.yaml",
    `cp x ${shellHome}/.config/git/config`,
    "cd - && cp x config.yaml",
    "cd - && cp x config",
    "cd -- - && echo x > config.yaml",
    "popd; cp x config.yaml",
    "pushd && cp x config.yaml",
    "pushd +1 && cp x config.yaml",
    "for i in 1 2; do cp x config.yaml; cd -; done",
    "f() { cp x config.yaml; }; cd -; f",
    "x=-; cd $x; cp x config.yaml",
    "x=$(cat y); cd $x; cp x config.yaml",
    'cd "$(cat y)" && cp x config.yaml',
    'cd "$x" && echo x > config.yaml',
    "(cd $x; cp x config.yaml)",
    "cd {-,}; cp x config.yaml",
    "cd -P $x; cp x config.yaml",
    'cd -- "$x" && cp x config.yaml',
    "builtin cd $x; cp x config.yaml",
    "command cd $x; cp x config.yaml",
    "\\cd $x; cp x config.yaml",
    "pushd $x && cp x config.yaml",
    'pushd "$(cat y)"; cp x config',
    "x=..; cd $x; cd $x; cd capstan-home; cp x config.yaml",
    "for i in 1 2; do cd ..; done; cd capstan-home; cp x config.yaml",
    'f() { cd "$1"; }; f $y; cp x config.yaml',
    "CDPATH=../..; cd capstan-home; cp x config.yaml",
    "CDPATH=../.. cd capstan-home; cp x config.yaml",
    "HOME=/srv; cd; cp x config.yaml",
    'eval "cd $x"; cp x config.yaml',
    "eval cd $x; cp x config.yaml",
    'sh -c "cd $x; cp x config.yaml"',
    "sh -c 'cd $0; cp x config.yaml' $x",
    "cd $x; sh -c 'cp x config.yaml'",
    "env -C $x cp x config.yaml",
    "env --chdir=$x cp x config.yaml",
    "sudo -D $x cp x config.yaml",
    "git -C $x init",
    "git -C $x checkout -- config",
    "make -C $x DESTDIR=. install",
    "tar -C $x -xf a.tar",
    "tar xf a.tar --directory=$x",
    'tar xf a.tar -C"$x"',
    "cp -t $x config.yaml",
    "find $x -execdir cp /tmp/a config.yaml ';'",
    "find / -name trust -execdir cp /tmp/a config.yaml ';'",
    "cp x $x/config.yaml",
    'echo x > "$x/config.yaml"',
    'cp x "$(cat y)/config.yaml"',
    "git config core.hooksPath x",
    "git config --global alias.x y",
    "git -C src config core.fsmonitor ./x",
    "git submodule add ./x y",
    "git worktree add ../x",
    "git remote add x ./y",
    "git clone -c core.fsmonitor=./x . y",
    "git clone --template=x . y",
    "git init --template=x y",
    "git update-index --add --cacheinfo 160000,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,sub",
    "git lfs install",
    "npm config set script-shell ./x",
    "direnv allow",
    "npx husky init",
    "capstan trust",
    "capstan config set permissions.mode yolo",
    "capstan keys create",
    "capstan grants list",
    "capstan approvals answer appr_1 --allow",
    "capstan init",
    "capstan --home x trust",
    "npx capstan trust",
    "npx capstan@latest trust",
    "node node_modules/capstan/bin/capstan.js trust",
    "./bin/capstan trust",
    "sudo capstan trust",
    "true; CAPSTAN_HOME=x capstan trust",
  ])("asks before %s", (line) => {
    for (const mode of ["normal", "accept-edits", "yolo"] as const)
      expect(decideProtected(command(line), mode)).toMatchObject({ behavior: "ask", rememberable: false });
    expect(decideProtected(command(line), "yolo").decidedBy).toMatch(/^protected:/);
  });
});

describe("other calls", () => {
  test.each([
    "cat .env",
    "cat .vscode/settings.json",
    "ls -la .git .claude",
    "grep -rn mode .capstan",
    "cat .env | node parse.js",
    "git status",
    "git add -A && git commit -m 'Describe .env and .capstan/config.yaml'",
    "git diff .gitattributes",
    "git log -- .capstan",
    "git config --get user.name",
    "git remote -v",
    "git submodule status",
    "git worktree list",
    "git clone ../x y",
    "git init y",
    "git push -u origin main",
    "cp package.json Makefile .gitignore .github/workflows/ci.yml CLAUDE.md out/",
    "sed -i 's/.*//' README.md",
    "echo x > compose.yaml",
    "echo x > bare/description",
    "cp a.txt src/config && cp a.txt src/HEAD",
    "curl https://x.example/.env",
    "rsync -a --exclude=.git --exclude .env src/ out/",
    "rm -rf src",
    "cp -a . ../backup && mv ../backup ../elsewhere",
    "npm test",
    "npm config get registry",
    "cp x ~/notes.txt",
    'cp x "$HOME/notes.txt"',
    "echo x > ~/notes.txt",
    "cd ~/project && npm test",
    "cd src && npm test && cd -",
    "cd - && ls src",
    "cd - && cp /tmp/a /tmp/b",
    'for d in src hooks; do (cd "$d" && cp a b); done',
    'for d in sr*; do (cd "$d" && npm test); done',
    'd=src; cd "$d" && cp a b',
    'cd "$PWD/src" && cp a b',
    "cd sr* && cp a b",
    "cd \"$(git rev-parse --show-toplevel)\" && npm run build && git add -A && git commit -m 'one two'",
    'cd "$x" && make test',
    'git -C "$x" pull',
    'make -C "$x" install',
    "tar -C ~/notes -xf a.tar",
    "cd $x && ls && cat a",
    'cp x "$HOME/config.json"',
    'cp x "$OUT/report.txt"',
    "docker build -t $TAG .",
    "capstan --version",
    "capstan help trust",
    "npx capstan validate agents",
    "node app.js capstan-notes.txt",
  ])("are decided as before: %s", (line) => {
    expect(decideProtected(command(line), "yolo").behavior).toBe("allow");
  });

  test("a file in the HOME of commands, if Capstan's home is ~/.capstan", () => {
    const usual = join(home, ".capstan");
    const around = { cwd, home, shellHome: join(usual, "sessions", "sess_1", "home") };
    const guarded = guardedPaths({ cwd, agent, capstanHome: usual });
    const asked = (line: string): boolean => {
      const call = { tool: "Bash", input: { command: line } };
      const subject = guardCall(subjectOf(call, around), call, guarded);
      return protectedIn(subject) !== undefined;
    };
    expect(asked("cp x ~/notes.txt")).toBe(false);
    expect(asked("echo x > ~/notes.txt")).toBe(false);
    expect(asked("cp x ~/../configuration.json")).toBe(true);
    expect(asked("cp x ~/../../../config.yaml")).toBe(true);
  });

  test("an ordinary file, also in a workspace inside Capstan's home", () => {
    const inside = join(capstanHome, "workspaces", "s", ".capstan", "files");
    mkdirSync(join(inside, "src"), { recursive: true });
    const call = { tool: "Write", input: { file_path: join(inside, "src", "a.ts") } };
    const subject = guardCall(subjectOf(call, { cwd: inside, home }), call, { ...places, gitDirectories: [] });
    expect(subject.guarded).toBeUndefined();
    const rules = compileRules({ allow: [], ask: [], deny: [] });
    const query = {
      enabled: true,
      mode: "accept-edits",
      rules,
      traits: EDITS,
      subject,
      sandboxed: false,
      grants: [],
    } as const;
    expect(decide(query).decidedBy).toBe("mode:accept-edits");
  });

  test("reading configuration, and a host tool that only reads", () => {
    const reads = { ...ACTS, readOnly: true };
    expect(decideProtected({ tool: "Read", input: { file_path: ".env" }, traits: reads }, "yolo").behavior).toBe(
      "allow",
    );
    const host = { tool: "look", input: { path: ".env" }, traits: reads, engineTool: false };
    expect(decideProtected(host, "yolo").behavior).toBe("allow");
  });
});
