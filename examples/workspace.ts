// The agent works on a copy in its own workspace. You apply its changes when you want them.
// prints: copied 2 of 2 files
// prints: added draft.txt, by Write
// prints: modified notes.txt, by Bash
// prints: your notes are still: Buy milk.
// prints: written: draft.txt, notes.txt
// prints: your notes are now: Buy milk. Buy tea.
// prints: copy: may be removed
import { mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import {
  type ApplyOutcome,
  type ChangeStep,
  type CopyProgress,
  type EnvironmentDefinition,
  type EnvironmentInput,
  openHost,
  type SessionDiff,
  type StoredWorkspace,
} from "capstan";

using scratch = mkdtempDisposableSync(join(tmpdir(), "capstan-example-"));
const shop = join(scratch.path, "shop");
mkdirSync(shop);
writeFileSync(join(shop, "notes.txt"), "Buy milk.");
writeFileSync(join(shop, "prices.txt"), "milk 1.20");
await using host = await openHost({ rehearsal: true, home: join(scratch.path, "home") });

const environment: EnvironmentInput = {
  workspace: { kind: "copy", mounts: [{ source: ".", target: "." }], max_files: 1_000 },
};
let last: CopyProgress | undefined;
const session = await host.startSession({
  agent: {
    name: "clerk",
    model: "claude-opus-4-8",
    tools: ["Write", "Bash"],
    permissions: { allow: ["Write", "Bash"] },
  },
  cwd: shop,
  environment,
  onProgress: (progress) => (last = progress),
});
console.log(`copied ${last?.files} of ${last?.totalFiles} files`);
await session.send("write draft.txt with Dear all, then run printf ' Buy tea.' >> notes.txt").result();

const { steps }: SessionDiff = await host.files.diff(session.id, { byCall: true });
const told = ({ files, calls }: ChangeStep): string =>
  `${files.map(({ kind, path }) => `${kind} ${path}`).join(", ")}, by ${calls.map(({ tool }) => tool).join(" or ")}`;
for (const step of steps) console.log(told(step));

const notes = (): string => readFileSync(join(shop, "notes.txt"), "utf8");
console.log("your notes are still:", notes());
const { applied, conflicts }: ApplyOutcome = await host.files.apply(session.id);
if (conflicts.length > 0) throw new Error("Nobody else has changed anything.");
console.log("written:", applied.map(({ path }) => basename(path)).join(", "));
console.log("your notes are now:", notes());

const all: readonly StoredWorkspace[] = await host.workspaces.list();
const kept: EnvironmentDefinition = session.record.environment;
for (const { hasUnexportedChanges } of all)
  console.log(`${kept.workspace.kind}: ${hasUnexportedChanges ? "has changes that nobody took" : "may be removed"}`);
