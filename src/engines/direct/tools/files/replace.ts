import { inputRefusal } from "./open-file.ts";

interface Replacement {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

/** Replaces one string in the text. Throws if it is missing, or occurs more than once. */
export function replaceText(text: string, { old_string: wanted, new_string: given, replace_all }: Replacement): string {
  const found = findActual(text, wanted);
  if (found === undefined) throw inputRefusal(`String to replace not found in file.\nString: ${wanted}`);
  const matches = text.split(found).length - 1;
  if (matches > 1 && replace_all !== true)
    throw inputRefusal(
      `Found ${matches} matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true. To replace only one occurrence, please provide more context to uniquely identify the instance.\nString: ${wanted}`,
    );
  const instead = found === wanted ? given : withQuotesOf(found, given);
  // Removing a line also removes its line break.
  const removesLine = given === "" && !found.endsWith("\n") && text.includes(`${found}\n`);
  const actual = removesLine ? `${found}\n` : found;
  return replace_all === true ? text.replaceAll(actual, () => instead) : text.replace(actual, () => instead);
}

/** Models write straight quotes where a file has curly ones. */
function findActual(text: string, wanted: string): string | undefined {
  if (text.includes(wanted)) return wanted;
  const at = straight(text).indexOf(straight(wanted));
  return at < 0 ? undefined : text.slice(at, at + wanted.length);
}

/** Replaces characters one by one, so that positions stay the same. */
function straight(text: string): string {
  return text.replaceAll(/[‘’]/g, "'").replaceAll(/[“”]/g, '"');
}

function withQuotesOf(found: string, given: string): string {
  const isDouble = /[“”]/.test(found);
  const isSingle = /[‘’]/.test(found);
  return given.replaceAll(/["']/g, (quote, at: number) => {
    const before = given.slice(Math.max(0, at - 1), at);
    if (quote === '"') return !isDouble ? quote : opens(before) ? "“" : "”";
    return !isSingle ? quote : opens(before) ? "‘" : "’";
  });
}

/** Whether a quote after this character is an opening one. */
function opens(before: string): boolean {
  return before === "" || /[\s([{—–‘“]/.test(before);
}
