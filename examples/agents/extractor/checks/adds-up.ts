/** The facts this check uses; docs/graders.md lists all of them. */
interface Facts {
  readonly turns: readonly { readonly output: unknown }[];
}

interface Invoice {
  readonly total: number;
  readonly items: readonly { readonly amount: number }[];
}

/** Checks that the amounts of an invoice add up to its total. */
export function addsUp({ turns }: Facts, { tolerance }: { readonly tolerance: number }) {
  const invoice = turns.at(-1)?.output as Invoice | undefined;
  if (invoice === undefined) return { passed: false, message: "there is no invoice" };
  const sum = invoice.items.reduce((sofar, { amount }) => sofar + amount, 0);
  const passed = Math.abs(sum - invoice.total) <= tolerance;
  return { passed, message: `the amounts are ${sum}, the total is ${invoice.total}` };
}
