/** Words with a meaning where a command may start. */
export const KEYWORDS = new Set(
  "if then elif else fi for in do done while until case esac select function time coproc { } ! [[ ]]".split(" "),
);

/** Those that no rule can allow, with their names for messages. */
export const UNSUPPORTED: Readonly<Record<string, string>> = {
  case: "`case`",
  select: "`select`",
  function: "functions",
  coproc: "`coproc`",
  "[[": "`[[ … ]]`; use `[ … ]`",
};
