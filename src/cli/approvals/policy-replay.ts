import { z } from "zod";
import { parseDuration } from "../../core/text/duration.ts";
import { layerPermissions } from "../../config/settings/layer-schemas.ts";
import { readTextFile } from "../../config/yaml/text-file.ts";
import { parseYaml } from "../../config/yaml/yaml-file.ts";
import type { Replay } from "../../runtime/policy/policy-replay.ts";
import { openRecords } from "../target/records.ts";
import { resolveSession } from "../target/session-id.ts";
import { count, shortId, table } from "../terminal/text.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

export interface ReplayFlags {
  readonly rules: string;
  readonly since?: string;
  readonly session?: string;
  readonly json?: boolean;
}

const rulesFile = z.strictObject({ permissions: layerPermissions });

export async function showPolicyReplay(flags: ReplayFlags): Promise<void> {
  const text = readTextFile(flags.rules, { what: "the rules", code: "invalid_input" });
  const { permissions } = parseYaml(text, { file: flags.rules, code: "invalid_input", schema: rulesFile });
  const { mode, allow, ask, deny } = permissions;
  const since = flags.since === undefined ? 0 : Date.now() - parseDuration(flags.since);
  await using records = await openRecords();
  const session = flags.session === undefined ? undefined : await resolveSession(records, flags.session);
  const replayed = await records.replay({ permissions: { mode, allow, ask, deny }, session, since });
  if (flags.json === true) return replayed.lines.forEach((line) => print(hiddenFreeJson(line)));
  show(replayed);
}

const OUTCOMES = { allow: "allowed", ask: "needs approval", deny: "denied" };
const CHANGES = { allow: "be allowed", ask: "need approval", deny: "be denied" };

function show({ lines, skipped }: Replay): void {
  const changed = lines.filter((line) => line.changed);
  for (const [now, becomes] of Object.entries(CHANGES)) {
    const group = changed.filter((line) => line.now === now);
    if (group.length === 0) continue;
    print(`${calls(group.length)} would now ${becomes}:`);
    print(
      table(
        ["SESSION", "BEFORE", "BY", "TOOL", "CALL"],
        group.map((line) => [shortId(line.session_id), OUTCOMES[line.before], line.decided_by, line.tool, line.about]),
      ),
    );
    print("");
  }
  print(`${calls(lines.length - changed.length)} would be decided as before.`);
  if (skipped > 0)
    print(`${calls(skipped)} cannot be replayed: decided by a limit or an error, or recorded by an older version.`);
}

function calls(number: number): string {
  return number === 1 ? "1 call" : `${count(number)} calls`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
