// Undoes an agent's file changes, whether a tool, a command, or a program run by a command made them.
// prints: 3 checkpoints: before Write, after Write, after Bash
// prints: it would: added notes.txt, deleted draft.txt
// prints: notes.txt is back: true
// prints: after the undo it is there: false
import { existsSync, mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Checkpoint, type FileChange, openHost, type Rewind, type RewindRequest } from "capstan";

using scratch = mkdtempDisposableSync(join(tmpdir(), "capstan-example-"));
const shop = join(scratch.path, "shop");
mkdirSync(shop);
const notes = join(shop, "notes.txt");
writeFileSync(notes, "Buy milk.");
await using host = await openHost({ rehearsal: true, home: join(scratch.path, "home") });
const session = await host.startSession({
  agent: {
    name: "clerk",
    model: "claude-opus-4-8",
    tools: ["Write", "Bash"],
    permissions: { allow: ["Write", "Bash"] },
  },
  cwd: shop,
});
await session.send("write draft.txt with Dear all, then run rm notes.txt").result();

const checkpoints: readonly Checkpoint[] = await host.files.checkpoints(session.id);
const when = ({ before, calls }: Checkpoint): string =>
  before === undefined ? `after ${calls.map(({ tool }) => tool).join(", ")}` : `before ${before.tool}`;
console.log(`${checkpoints.length} checkpoints: ${checkpoints.map(when).join(", ")}`);

const request: RewindRequest = { to: "start" };
const { files }: Rewind = await host.files.rewind(session.id, { ...request, dryRun: true });
const told = ({ kind, path }: FileChange): string => `${kind} ${path}`;
console.log("it would:", files.map(told).toSorted().join(", "));

await host.files.rewind(session.id, request);
console.log("notes.txt is back:", existsSync(notes));
await host.files.undoRewind(session.id);
console.log("after the undo it is there:", existsSync(notes));
