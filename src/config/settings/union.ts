/** Both lists, nothing twice. An entry that is not text is the same when it says the same. */
export function union<Entry>(below: readonly Entry[], above: readonly Entry[] = []): Entry[] {
  return [...new Map([...below, ...above].map((entry) => [JSON.stringify(entry), entry])).values()];
}
