import { expect, test } from "vitest";
import { unreadDotEnv } from "../../src/config/variables/unread-dot-env.ts";
import { files } from "./files.ts";

test.each([
  ["there is no project here", "agents", undefined, "there is no project here. To use it: mkdir @agents/.capstan"],
  [
    "the command runs somewhere else",
    ".",
    undefined,
    "there is no project here. To use it: mkdir @agents/.capstan && cd @agents",
  ],
  [
    "another project is around it",
    "agents",
    ".env",
    "the project here has another one, @.env. To use it: mkdir @agents/.capstan",
  ],
])("a .env beside an agent file that is not read is told: %s", (_what, cwd, read, told) => {
  using tree = files({ "agents/.env": "A=b\n", "agents/agent.yaml": "name: a\n", "user/": "" });
  const dotEnv = read === undefined ? undefined : { path: tree.at(read), names: [] };
  const place = { cwd: tree.at(cwd), home: tree.at("user/.capstan"), dotEnv };
  expect(unreadDotEnv(tree.at("agents/agent.yaml"), place)).toBe(
    `${tree.at("agents/.env")} is not read: ${told.replaceAll("@", `${tree.path}/`)}`,
  );
});

test("nothing is told of one that is read, or is not there; in the home directory the shell is the way", () => {
  using tree = files({ "app/.env": "A=b\n", "app/.capstan/": "", "bare/": "", ".env": "A=b\n", ".capstan/": "" });
  const home = tree.at(".capstan");
  const dotEnv = { path: tree.at("app/.env"), names: ["A"] };
  expect(unreadDotEnv(tree.at("app/agent.yaml"), { cwd: tree.at("app"), home, dotEnv })).toBeUndefined();
  expect(unreadDotEnv(tree.at("bare/agent.yaml"), { cwd: tree.at("bare"), home, dotEnv: undefined })).toBeUndefined();
  expect(unreadDotEnv(tree.at("agent.yaml"), { cwd: tree.path, home, dotEnv: undefined })).toBe(
    `${tree.at(".env")} is not read: there is no project here. Set its variables in the shell`,
  );
});
