/** What reads a file as configuration. */
type Reader = "Capstan" | "Claude Code" | "git" | "npm" | "the shell" | "an editor";

export interface ProtectedRow {
  /**
   * `**\/` is any depth, `~/` the user's home directory; `*` stays within a name. Everything below a match is protected
   * too. `$NAME` rows are paths that the host knows.
   */
  readonly pattern: string;
  readonly readBy: Reader;
  readonly why: string;
}

/** Not by its name: git takes a directory for a repository by what is in it. */
export const UNNAMED_REPOSITORY = "$REPOSITORY/";

/**
 * Everything that Capstan, Claude Code, git, npm, a shell or an editor reads as configuration. A write to it always
 * asks a person, whatever the mode, rules and grants say, and the answer is not remembered. In the sandbox it is
 * read-only.
 *
 * Not included: files with ordinary code or data of a project, such as package.json, Makefile, CI workflows and
 * CLAUDE.md. Agents are meant to write those, and none of them decides what an agent may do.
 * test/core/permission/protected/table.test.ts fails if Capstan reads a file that has neither a row nor a reason.
 */
export const PROTECTED: readonly ProtectedRow[] = [
  {
    pattern: "**/.capstan/",
    readBy: "Capstan",
    why: "settings of a project: modes, rules, sandbox, budgets, prices and variables",
  },
  {
    pattern: "$CAPSTAN_HOME/",
    readBy: "Capstan",
    why: "user settings, credentials, trust, grants, the store and other sessions",
  },
  { pattern: "**/.env*", readBy: "Capstan", why: "credentials and variables of a project; direnv reads .envrc" },
  { pattern: "**/agent.yaml", readBy: "Capstan", why: "an agent's tools, rules, hooks and servers" },
  { pattern: "**/agent.yml", readBy: "Capstan", why: "an agent's tools, rules, hooks and servers" },
  { pattern: "**/*.agent.yaml", readBy: "Capstan", why: "an agent's tools, rules, hooks and servers" },
  { pattern: "**/*.agent.yml", readBy: "Capstan", why: "an agent's tools, rules, hooks and servers" },
  { pattern: "$AGENT", readBy: "Capstan", why: "an agent file under another name, or a program that the agent uses" },
  { pattern: "**/*.test.yaml", readBy: "Capstan", why: "suites, which run commands and answer questions" },
  { pattern: "**/*.test.yml", readBy: "Capstan", why: "suites, which run commands and answer questions" },
  { pattern: "**/.claude/", readBy: "Claude Code", why: "permissions, hooks, servers and subagents" },
  { pattern: "**/.claude.json", readBy: "Claude Code", why: "servers and trusted projects" },
  { pattern: "**/.mcp.json", readBy: "Claude Code", why: "programs to start as MCP servers" },
  { pattern: "**/.ripgreprc", readBy: "Claude Code", why: "options of its searches, which can run a program" },
  {
    pattern: "**/.git/",
    readBy: "git",
    why: "hooks, configuration, attributes, worktrees, modules and the index, which make git run programs",
  },
  { pattern: "$GIT_DIR/", readBy: "git", why: "the repository that the workspace is a worktree of" },
  {
    pattern: UNNAMED_REPOSITORY,
    readBy: "git",
    why: "the same of a repository under another name: a directory with HEAD, objects and refs in it",
  },
  { pattern: "**/.gitconfig", readBy: "git", why: "aliases, hooks, filters and other programs that git runs" },
  { pattern: "~/.config/git/", readBy: "git", why: "aliases, hooks, filters and other programs that git runs" },
  { pattern: "~/.ssh/", readBy: "git", why: "programs that ssh runs to connect, and who may log in" },
  { pattern: "**/.gitattributes", readBy: "git", why: "which filter and diff programs git runs for a file" },
  { pattern: "**/.gitmodules", readBy: "git", why: "the addresses that git fetches for submodules" },
  { pattern: "**/.husky/", readBy: "git", why: "hooks" },
  { pattern: "**/.pre-commit-config.yaml", readBy: "git", why: "hooks of pre-commit" },
  { pattern: "**/lefthook.yml", readBy: "git", why: "hooks of lefthook" },
  { pattern: "**/.lefthook.yml", readBy: "git", why: "hooks of lefthook" },
  { pattern: "**/.npmrc", readBy: "npm", why: "registries, credentials, and the shell that runs scripts" },
  { pattern: "**/.yarnrc*", readBy: "npm", why: "the same for yarn" },
  { pattern: "**/.pnpmfile.*", readBy: "npm", why: "code that pnpm runs at every install" },
  { pattern: "**/.bashrc", readBy: "the shell", why: "commands that every new shell runs" },
  { pattern: "**/.bash_*", readBy: "the shell", why: "commands that a shell runs when it starts or ends" },
  { pattern: "**/.profile", readBy: "the shell", why: "commands that a login runs" },
  { pattern: "**/.zsh*", readBy: "the shell", why: "commands that every new shell runs" },
  { pattern: "**/.zprofile", readBy: "the shell", why: "commands that a login runs" },
  { pattern: "**/.zlog*", readBy: "the shell", why: "commands that a login or logout runs" },
  { pattern: "**/.inputrc", readBy: "the shell", why: "commands bound to keys" },
  { pattern: "~/.config/fish/", readBy: "the shell", why: "commands that every new shell runs" },
  {
    pattern: "**/.vscode/",
    readBy: "an editor",
    why: "tasks and programs that VS Code runs, some on opening a folder",
  },
  { pattern: "**/.idea/", readBy: "an editor", why: "run configurations and programs that JetBrains editors run" },
];
