// Gets an answer as data. The schema is sent to the model, checked here, and types the result.
// prints: rehearsal name: 1 people, in Norway
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHost, type StandardSchema, type StartOptions } from "capstan";
import { z } from "zod";

using home = mkdtempDisposableSync(join(tmpdir(), "capstan-example-home-"));
using scratch = mkdtempDisposableSync(join(tmpdir(), "capstan-example-"));
await using host = await openHost({ rehearsal: true, home: home.path });

const City = z.object({
  name: z.string(),
  people: z.number().int().positive(),
  country: z.enum(["Norway", "Denmark"]),
});
// Works with any Standard Schema that can describe itself as JSON Schema.
const output: StandardSchema<unknown, z.infer<typeof City>> = City;
const options: StartOptions<z.infer<typeof City>> = {
  agent: { name: "geographer", model: "claude-opus-4-8" },
  cwd: scratch.path,
  output,
};
const session = await host.startSession(options);
const { output: city } = await session.send("return structured output about a city").result();

// Undefined if the turn ended early, for example by an interrupt or a limit.
if (city !== undefined) console.log(`${city.name}: ${city.people} people, in ${city.country}`);
