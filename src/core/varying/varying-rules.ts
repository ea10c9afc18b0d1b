/**
 * What programs print differently in each run although nothing has changed. A rule removes only that: names, counts,
 * sizes and words around it still count. Every pattern is bounded, so that the time is linear.
 */
export interface VaryingRule {
  /** Its name in reports. */
  readonly kind: string;
  readonly pattern: RegExp;
  /** Default: the kind in capitals. */
  readonly replace?: (...groups: string[]) => string;
}

const MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}";
const WEEKDAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}";
const DAY = String.raw`(?:\d{1,2} {1,2}${MONTH}|${MONTH} {1,2}\d{1,2})`;
const CLOCK = String.raw`\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: [AP]M)?`;
const ZONE = String.raw`(?:[A-Z]{2,5}|[+-]\d{2}:?\d{2})`;
const UNIT = "(?:ns|µs|μs|us|ms|s|secs?|seconds?|min)";
const AMOUNT = String.raw`\d{1,9}(?:[.,]\d{1,9})?`;
/** `1m 2.5s`, `2m30s`, `12.5 ms` */
const LENGTH = String.raw`(?:\d{1,6} ?m ?)?${AMOUNT} ?${UNIT}`;

/** Mode, then links, owner, group, size, time and name, as in `ls -l`; optionally preceded by inode and blocks. */
const LISTED = new RegExp(
  String.raw`^(?: {0,12}\d{1,20}(?= ))?(?: {0,12}\d{1,12}(?= ))? {0,4}([-dlbcps][-rwxsStT]{9})[.+@]? {1,12}\d{1,9} {1,12}\S{1,40} {1,40}\S{1,40} {1,40}(\d{1,20}(?:, {1,8}\d{1,9})?|\d{1,6}(?:[.,]\d)?[KMGTP]) {1,12}(?:${DAY} {1,3}(?:\d{1,2}:\d{2}|\d{4})|\$\{(?:TIME|DATE)\}(?: [+-]\d{4})?) (.{1,1024})$`,
  "gm",
);

export const VARYING_RULES: readonly VaryingRule[] = [
  {
    kind: "owners, inodes and times of a listing",
    pattern: LISTED,
    replace: (_line = "", mode = "", size = "", name = "") => {
      // The parent directory is not the agent's; a directory's size depends on the file system.
      if (name === "..") return "${PARENT}";
      return `${mode} \${OWNER} ${mode.startsWith("d") ? "${SIZE}" : size} \${TIME} ${name}`;
    },
  },
  {
    kind: "blocks of a listing",
    pattern: /^total [\d.,]{1,12}[KMGTP]?(?=\n[-dlbcps][-rwxsStT]{9} )/gm,
    replace: () => "total ${BLOCKS}",
  },
  {
    kind: "inodes and owners",
    pattern: /\b(Inode|Device|Links|Uid|Gid): {0,8}(?:\([^()\n]{1,60}\)|[\w,/]{1,40})/g,
    replace: (_text = "", label = "") => `${label}: \${NUMBER}`,
  },
  {
    kind: "process ids",
    // `ps`: number, terminal, time
    pattern: /^ {0,10}\d{1,10} (?:\?|pts\/\d{1,4}|tty\w{0,8}) {1,12}[\d:-]{5,14} (?=\S)/gm,
    replace: () => "${PID} ",
  },
  {
    kind: "dates and times",
    pattern: new RegExp(
      String.raw`\b${WEEKDAY},? {1,2}${DAY},?(?: {1,2}\d{4})? {1,2}${CLOCK}(?: ${ZONE})?(?: \d{4})?(?![\w:])`,
      "g",
    ),
  },
  {
    kind: "times of day",
    // Not `file:12:30:10`, which is a position in a file.
    pattern: /(?<![\w:./-])(?:[01]?\d|2[0-3]):[0-5]\d:[0-5]\d(?:[.,]\d{1,9})?(?![\w:])/g,
  },
  {
    kind: "durations",
    // bash and the shells of POSIX: `real 0m0.003s`
    pattern: new RegExp(String.raw`^(real|user|sys)([\t ]{1,8})(?:\d{1,6}m)?\d{1,6}[.,]\d{1,6}s?$`, "gm"),
    replace: (_line = "", label = "") => `${label} \${DURATION}`,
  },
  {
    kind: "durations",
    // GNU time, in two lines.
    pattern:
      /^[\d.]{1,12}user [\d.]{1,12}system [\d:.]{1,12}elapsed [\d?]{1,6}%CPU \(\d{1,12}avgtext\+\d{1,12}avgdata \d{1,12}maxresident\)k\n\d{1,12}inputs\+\d{1,12}outputs \(\d{1,12}major\+\d{1,12}minor\)pagefaults \d{1,12}swaps$/gm,
  },
  {
    kind: "durations",
    // zsh
    pattern: /\b[\d.]{1,12}s user [\d.]{1,12}s system \d{1,5}% cpu [\d:.]{1,12} total$/gm,
  },
  {
    kind: "durations",
    // Whole numbers of milliseconds appear alone in brackets, after a file or at the end of a marked line.
    pattern: new RegExp(String.raw`(?<=[([])${LENGTH}(?=[)\]])`, "g"),
  },
  { kind: "durations", pattern: new RegExp(String.raw`(?<![\w.])\d{1,9}[.,]\d{1,9} ?${UNIT}\b`, "g") },
  {
    kind: "durations",
    pattern: new RegExp(
      String.raw`\b(Duration|Time|time|Time elapsed|Total time|elapsed|took|in|after|transform|setup|import|collect|tests|environment|prepare|typecheck|estimated)([:=]? {1,12})${LENGTH}\b`,
      "g",
    ),
    replace: (_text = "", label = "") => `${label} \${DURATION}`,
  },
  {
    kind: "durations",
    pattern: new RegExp(String.raw`^( {0,12}[✓√✔×✗✘✖❯↓][^\n]{1,1024}?) \d{1,9} ?(?:ms|s)$`, "gm"),
    replace: (_line = "", before = "") => `${before} \${DURATION}`,
  },
  {
    kind: "durations",
    // Go omits the figure if a result is cached.
    pattern: /^(ok {1,4}\t[^\t\n]{1,400}\t)\(cached\)/gm,
    replace: (_line = "", before = "") => `${before}\${DURATIONS}`,
  },
  {
    kind: "durations, times and hosts of a report",
    pattern: /(?<= )(time|timestamp|hostname)="[^"\n]{0,200}"/g,
    replace: (_text = "", label = "") => `${label}="\${VARYING}"`,
  },
  {
    kind: "process ids",
    pattern: /\b(pid|PID|process id|Process ID|process)([ :=#]{1,3})\d{1,10}\b/g,
    replace: (_text = "", label = "", sign = "") => `${label}${sign}\${PID}`,
  },
  {
    kind: "process ids",
    pattern: /^(\[\d{1,3}\][+-]?) \d{2,10}$/gm,
    replace: (_line = "", job = "") => `${job} \${PID}`,
  },
  {
    kind: "temporary paths",
    pattern: /(\/tmp|\/var\/tmp|\/var\/folders\/\w{2}\/\w{20,40}\/T)\/([\w.-]{1,120})/g,
    replace: (text = "", root = "", name = "") => (isRandom(name) ? `${root}/\${NAME}` : text),
  },
  {
    kind: "ports",
    // Only ephemeral ports: a port that someone chose is significant.
    pattern:
      /(localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]|\b[Pp]ort):? ?(3276[89]|327[7-9]\d|32[89]\d\d|3[3-9]\d{3}|[45]\d{4}|6[0-4]\d{3}|65[0-5]\d\d)\b/g,
    replace: (_text = "", host = "") => `${host}:\${PORT}`,
  },
  { kind: "addresses in memory", pattern: /\b0x[0-9a-f]{8,16}\b/gi },
];

/** A text without its varying parts. `taken` is called for every removed part, with its kind. */
export function withoutVarying(text: string, onTaken: (kind: string, part: string) => void = () => {}): string {
  return VARYING_RULES.reduce(
    (sofar, { kind, pattern, replace = () => `\${${kind.toUpperCase()}}` }) =>
      sofar.replace(pattern, (...found: unknown[]) => {
        // The groups are followed by the offset and the whole text.
        const groups = found.slice(0, -2).map((group) => (typeof group === "string" ? group : ""));
        const steady = replace(...groups);
        if (steady !== groups[0]) onTaken(kind, groups[0] ?? "");
        return steady;
      }),
    text,
  );
}

/** Random names like those of `mktemp`: `tmp.Xa81Zq02`, `tmpab12_x9z`, `build-8QjT6c`. */
function isRandom(name: string): boolean {
  if (/^tmp[\w.]{6,}$/.test(name)) return true;
  const [, tail = ""] = /(?:^|[._-])([A-Za-z0-9_]{6,16})$/.exec(name) ?? [];
  return /\d/.test(tail) ? /[A-Za-z]/.test(tail) : /[a-z]/.test(tail) && /[A-Z]/.test(tail);
}
