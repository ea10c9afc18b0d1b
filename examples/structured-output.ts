// An answer as data: the schema is told to the model, checked here, and types the result.
// prints: rehearsal name: 1 people, in Norway
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHost, type StartOptions } from "capstan";
import { z } from "zod";

using scratch = mkdtempDisposableSync(join(tmpdir(), "capstan-example-"));
await using host = await openHost({ rehearsal: true, home: join(scratch.path, "home") });

const City = z.object({
  name: z.string(),
  people: z.number().int().positive(),
  country: z.enum(["Norway", "Denmark"]),
});
const options: StartOptions<z.infer<typeof City>> = {
  agent: { name: "geographer", model: "claude-opus-4-8" },
  cwd: scratch.path,
  output: City,
};
const session = await host.startSession(options);
const { output } = await session.send("return structured output about a city").result();

// Undefined when the turn ended early, as by an interruption or a limit.
if (output !== undefined) console.log(`${output.name}: ${output.people} people, in ${output.country}`);
