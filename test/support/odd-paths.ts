/** Ways to write a path that readers of it may understand differently. */

/** The same numbers for the same seed. */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface OddPlaces {
  /** The workspace. */
  readonly cwd: string;
  /** Relative to the workspace; some of them lead out of it. */
  readonly targets: readonly string[];
}

const BLANKS = [
  " ",
  "\t",
  "\n",
  "\r",
  "\v",
  "\f",
  "\u00A0",
  "\u1680",
  "\u2003",
  "\u2028",
  "\u202F",
  "\u3000",
  "\uFEFF",
];

type Twist = (path: string, places: { readonly cwd: string; readonly pick: <T>(of: readonly T[]) => T }) => string;

const TWISTS: readonly Twist[] = [
  (path) => path,
  (path, { pick }) => pick(BLANKS) + path,
  (path, { pick }) => path + pick(BLANKS),
  (path, { pick }) => pick(BLANKS) + path + pick(BLANKS),
  (path, { cwd }) => `${cwd}/${path}`,
  (path, { cwd, pick }) => `${pick(BLANKS)}${cwd}/${path}${pick(BLANKS)}`,
  (path, { cwd, pick }) => `${cwd}${pick(BLANKS)}/${path}`,
  (path) => `./${path}`,
  (path) => `.//${path.replaceAll("/", "//")}/`,
  (path) => `${path}/.`,
  (path, { pick }) => `${path}${pick(BLANKS)}/.`,
  (path, { pick }) => `${path}/${pick(BLANKS)}`,
  (path) => `src/../${path}`,
  (path) => `link/../${path}`,
  (path) => `link/../workspace/${path}`,
  (path) => `missing/../${path}`,
  (path) => `../workspace/${path}`,
  (path) => `${"./".repeat(700)}${path}`,
  (path) => `${"./".repeat(2_100)}${path}`,
  (path) => `self/${path}`,
  (path) => `loop/${path}`,
  (path) => `~/${path}`,
  (path) => `~root/${path}`,
  (path) => `~+/${path}`,
  (path) => `$PWD/${path}`,
  (path, { cwd }) => `file://${cwd}/${path}`,
  (path) => path.replaceAll("/", "%2f"),
  (path) => path.replaceAll("s", "%73"),
  (path) => path.replaceAll("/", "\\"),
  (path) => path.toUpperCase(),
  (path) => path.normalize("NFD"),
  (path) => path.replaceAll("e", "e\u200B"),
  (path) => `\u202E${path}`,
  (path) => `${path}\0`,
  (path) => `${path}\0.txt`,
  (path) => `${path}\u0007`,
  (path) => `${path}\uD800`,
  (path) => `/proc/self/cwd/${path}`,
  (path, { cwd }) => `/proc/self/root${cwd}/${path}`,
  (path, { cwd }) => `/proc/${process.pid}/root${cwd}/${path}`,
  (path, { cwd }) => `/${cwd}/${path}`,
  (path, { cwd }) => `/..${cwd}/${path}`,
  (path) => `"${path}"`,
  (path) => `'${path}'`,
  (path) => `@${path}`,
  (path) => `${path};`,
];

/** So many paths, each a target in one or two odd ways. */
export function oddPaths(count: number, seed: number, { cwd, targets }: OddPlaces): string[] {
  const random = numbers(seed);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  return Array.from({ length: count }, (_, index) => {
    const twist = TWISTS[index % TWISTS.length] as Twist;
    const once = twist(pick(targets), { cwd, pick });
    return random() < 0.2 ? pick(BLANKS) + once : once;
  });
}

/** The same for patterns of files in a directory. */
export function oddPatterns(count: number, seed: number, places: OddPlaces): string[] {
  const random = numbers(seed + 1);
  const ends = ["/*", "/**", "/{*,x}", "/[!x]*", "/../*", "*", "/n*", "/{..,.}/*", String.raw`/\*`, "/**/../*"];
  return oddPaths(count, seed, places).map((path) => {
    const pattern = `${path}${ends[Math.floor(random() * ends.length)] ?? ""}`;
    return random() < 0.2 ? `{${pattern},src/*}` : random() < 0.1 ? `!${pattern}` : pattern;
  });
}
