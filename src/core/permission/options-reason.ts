import type { ShellCommand } from "./match-call.ts";
import type { Rule } from "../rules/rule.ts";
import { quotedWord } from "./suggest.ts";

/** Why a rule does not cover a command with these options, and which rule would. */
export function optionsReason({ words, effects = [] }: ShellCommand, { text }: Rule): string {
  const doubt = effects.find(({ doubtful }) => doubtful === true);
  if (doubt !== undefined)
    return `\`${doubt.written}\` may turn out to be an option such as \`${doubt.option}\`, which ${doubt.does}; \`${text}\` does not cover it. Put \`--\` or \`./\` before it, or write it out.`;
  const said = [...new Set(effects.map(({ option, does }) => `\`${option}\` ${does}`))];
  return `${said.join(", and ")}; \`${text}\` does not cover ${said.length === 1 ? "it" : "them"}. Add \`${ruleNaming(words, effects)}\` to allow it.`;
}

/** The rule that names these options and leaves the rest open. */
function ruleNaming(words: ShellCommand["words"], effects: NonNullable<ShellCommand["effects"]>): string {
  const parts: string[] = [];
  for (const [index, { text }] of words.entries()) {
    const written = effects.filter(({ word }) => word === index).map((effect) => effect.written);
    const longest = written.toSorted((a, b) => b.length - a.length)[0];
    if (index === 0) parts.push(quotedWord(text));
    else if (longest !== undefined) parts.push(longest === text ? quotedWord(text) : `${quotedWord(longest)}*`);
    else if (parts.at(-1) !== "*") parts.push("*");
  }
  return `Bash(${parts.join(" ")})`;
}
