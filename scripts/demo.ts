// What `npm start` shows: a real agent, driven by the rehearsal model, working in a scratch directory.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const place = mkdtempSync(join(tmpdir(), "capstan-demo-"));
const scratch = join(place, "work");
mkdirSync(scratch);
writeFileSync(join(scratch, "notes.txt"), "Buy milk.\n");
const prompt = "list the files, then write hello.js with console.log('Hello from an agent'), then run node hello.js";

console.log(`Capstan: a rehearsal without a key. The agent, its tools and its files are real; only the model is scripted.

The agent works in ${scratch}
It is asked to: ${prompt}
`);
const capstan = join(import.meta.dirname, "../bin/capstan");
const run = (...args: string[]): number | null =>
  spawnSync(capstan, args, {
    cwd: scratch,
    stdio: "inherit",
    env: { ...process.env, CAPSTAN_HOME: join(place, "home") },
  }).status;

const code = run("run", "--rehearsal", "--mode", "yolo", prompt);
console.log("\nWhat the log says of it:\n");
run("sessions", "list");
console.log(`
Go on:
  bin/capstan run --rehearsal "list the files"       another rehearsal, here
  ANTHROPIC_API_KEY=… bin/capstan run "explain this project"
  bin/capstan doctor                                 check this machine
  bin/capstan --help                                 everything else
`);
rmSync(place, { recursive: true, force: true });
process.exit(code ?? 1);
