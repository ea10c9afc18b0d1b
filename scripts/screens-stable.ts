/** A screen without what differs from run to run: ids, costs, times and paths. */
export function stable(screen: string, place: string): string {
  const ids: string[] = [];
  const nth = (id: string): number => (ids.includes(id) ? ids.indexOf(id) + 1 : ids.push(id));
  const text = screen
    .replaceAll(/\bsesn_[\da-f]{24}(?=[\da-f]{8}\b)/g, `sesn_${"0".repeat(24)}`)
    .replaceAll(/\b(?=\w*\d)(?:[\da-f]{8})\b|(?<=0{24})[\da-f]{8}\b/g, (id) => `c0ffee0${nth(id)}`)
    .replaceAll(/(?<=token=)[\w-]+/g, "0123456789abcdefghijklmn")
    .replaceAll(place, "/home/someone")
    .replaceAll(/\d+(?:\.\d)? m?s\b/g, "95 ms")
    .replaceAll(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, "⠋")
    .replaceAll(/context [\d.]+k/g, "context 6.8k")
    .replaceAll(/just now +/g, "just now  ")
    .replaceAll(/ACTIVE +/g, "ACTIVE  ")
    .replaceAll(/\$0\.\d+/g, "$0.04")
    .replaceAll(/\b[\da-f]{16}(?= in \S*audit-key)/g, "0123456789abcdef")
    .replaceAll(/[\d,]+ tokens in, [\d,]+ out/g, "7,000 tokens in, 70 out")
    .replaceAll(/git version .*/g, "git version 2.x");
  return `${text.trimEnd()}\n`;
}
