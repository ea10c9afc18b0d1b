/** Words that mean something where a command may begin. */
export const KEYWORDS = new Set(
  "if then elif else fi for in do done while until case esac select function time coproc { } ! [[ ]]".split(" "),
);

/** Those that no rule can allow, as reasons name them. */
export const UNSUPPORTED: Readonly<Record<string, string>> = {
  case: "`case`",
  select: "`select`",
  function: "functions",
  coproc: "`coproc`",
  "[[": "`[[ … ]]`; use `[ … ]`",
};
