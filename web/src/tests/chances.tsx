import { Table } from "../parts/table.tsx";
import type { CaseRun } from "./run-facts.ts";
import { percent } from "../../../src/words/amounts.ts";

/** Of many trials some are enough to see where it leads. */
const SHOWN = new Set(["1", "2", "3", "4", "5", "10", "20", "50", "100", "200", "500"]);

/** How likely it is that of k trials one passes, and that all do. */
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
      caption={`Chances to pass; ${percent(needed)} of the trials must`}
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
