import type { ShellWord } from "../../core/shell/read-commands.ts";
import type { Names } from "../paths/names.ts";
import { pathsIn } from "./paths-in.ts";
import { isReturn } from "./returns.ts";

/** So many directories may one command be in; with more nobody can say where it writes. */
const MAX_BASES = 16;

/** Every directory the command may be in, as far as its `cd`s tell. */
export function basesOf(
  commands: readonly (readonly ShellWord[])[],
  names: Names,
): { bases: string[]; areKnown: boolean } {
  let bases = [names.workspace];
  let areKnown = true;
  for (const [program, ...words] of commands) {
    if (program === undefined || !["cd", "pushd", "popd"].includes(program.text)) continue;
    if (isReturn({ words: [program, ...words] })) {
      // It leads to one of these, or to where an earlier call has been; see `returnIn`.
      areKnown = false;
      continue;
    }
    const [target] = words;
    const isPlain =
      program.text === "cd" && words.length === 1 && target?.dynamic === false && !/^[-+]/.test(target.text);
    if (!isPlain) areKnown = false;
    const texts = words.length === 0 ? ["~"] : words.flatMap((word) => pathsIn(word, names.home).slice(0, 1));
    const further = texts.flatMap((text) => bases.flatMap((base) => names.places(text, base)));
    bases = [...new Set([...bases, ...further.map(({ real }) => real)])];
    if (bases.length > MAX_BASES) return { bases: bases.slice(0, MAX_BASES), areKnown: false };
  }
  return { bases, areKnown };
}
