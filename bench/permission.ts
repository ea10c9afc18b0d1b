import { decide } from "../src/core/permission/decide.ts";
import { compileRules } from "../src/core/permission/rule-set.ts";
import { readCommands } from "../src/core/shell/read-commands.ts";
import { subjectOf } from "../src/runtime/subject/call-subject.ts";
import { interleave } from "./interleave.ts";
import { type BenchCase, ratioRow } from "./row.ts";

const name = "permission";
const COMMAND = 'cd src && npm run build -- --fast 2>&1 | tee out/log.txt && git commit -am "Build $(date)"';
const RULES = 500;
/** A single decision is too short to time. */
const REPEATED = 2_000;

/** Deciding a call whose command is parsed and whose paths are known, compared with parsing the command. */
export const permission: BenchCase = {
  name,
  async run() {
    const rules = compileRules({
      allow: Array.from({ length: RULES / 2 }, (_, index) =>
        index % 2 === 0 ? `Bash(tool-${index} run *)` : `Edit(src/part-${index}/**)`,
      ),
      ask: Array.from({ length: RULES / 4 }, (_, index) => `Bash(git push origin branch-${index} *)`),
      deny: Array.from({ length: RULES / 4 }, (_, index) =>
        index % 2 === 0 ? `Bash(rm -rf dir-${index})` : `Read(secrets/part-${index}/**)`,
      ),
    });
    const subject = subjectOf({ tool: "Bash", input: { command: COMMAND } }, { cwd: process.cwd(), home: "/home/me" });
    const traits = { readOnly: false, edit: false, safeInternal: false };
    const { decided, parsed } = await interleave(
      { rounds: 40, warmUp: 5 },
      {
        decided: () =>
          timeWork(() =>
            decide({ enabled: true, mode: "normal", rules, traits, subject, sandboxed: false, grants: [] }),
          ),
        parsed: () => timeWork(() => readCommands(COMMAND)),
      },
    );
    return [
      ratioRow(
        {
          name,
          what: `deciding ${REPEATED} calls, ${RULES} rules : parsing their commands`,
          measured: decided,
          against: parsed,
        },
        3,
      ),
    ];
  },
};

async function timeWork(work: () => unknown): Promise<number> {
  const started = performance.now();
  for (let count = 0; count < REPEATED; count++) work();
  return performance.now() - started;
}
