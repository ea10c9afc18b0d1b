import { Table } from "../parts/table.tsx";
import type { CaseRun } from "./run-facts.ts";
import { percent } from "../../../src/words/amounts.ts";

/** Values of k shown for many trials. */
const SHOWN = new Set(["1", "2", "3", "4", "5", "10", "20", "50", "100", "200", "500"]);

/** The probability that one of k trials passes, and that all pass. */
export function Chances({ one: { passAt, passAll, needed } }: { readonly one: CaseRun }) {
  const all = Object.keys(passAt);
  const ks = all.filter((k, index) => SHOWN.has(k) || index === all.length - 1);
  if (ks.length === 0) return null;
  const rows = [
    { name: "one passes (pass@k)", of: passAt },
    { name: "all pass (pass^k)", of: passAll },
  ];
  return (
    <Table
      caption={`Probability of passing; ${percent(needed)} of the trials must pass`}
      rows={rows}
      rowKey={({ name }) => name}
      columns={[
        { title: "Of k trials", cell: ({ name }) => <span className="whitespace-nowrap">{name}</span> },
        ...ks.map((k) => ({
          title: `k = ${k}`,
          figure: true,
          cell: ({ of }: (typeof rows)[number]) => percent(of[k] ?? 0),
        })),
      ]}
    />
  );
}
