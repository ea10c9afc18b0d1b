import { describe, expect, test } from "vitest";
import { OPTIONS_THAT_ACT } from "../../../src/core/shell/effects/table.ts";
import { bash, decideCall } from "./subjects.ts";

const programs = Object.keys(OPTIONS_THAT_ACT);

/** Every option of the table, in a command. */
const ENTRIES = Object.entries(OPTIONS_THAT_ACT).flatMap(([program, acts]) =>
  Object.entries(acts).flatMap(([does, options]) =>
    options.split(" ").map((option) => {
      const word = option.endsWith("=") || option === "+" ? `${option}y` : option;
      return { line: `${program} ${/^[-+]|=$/.test(option) ? "p " : ""}${word} z`, program, option, does };
    }),
  ),
);

function ruleIn(reason: string): string {
  return /Add `(.*)` to allow it\.$/s.exec(reason)?.[1] ?? "";
}

describe("an option that writes, deletes or runs something", () => {
  test.each(ENTRIES)("$line: a rule has to name it", ({ line, program, option, does }) => {
    const wildcard = `Bash(${program} *)`;
    const { behavior, reason } = decideCall(bash(line), { allow: [wildcard] });
    expect({ behavior, reason }).toEqual({
      behavior: "ask",
      reason: expect.stringContaining(`\`${option}\` ${does}; \`${wildcard}\` does not cover it. Add \``) as string,
    });
    expect(decideCall(bash(line), { allow: [wildcard, ruleIn(reason)] }).behavior).toBe("allow");
  });

  test("has a reason that says what to add", () => {
    expect(decideCall(bash("find . -delete"), { allow: ["Bash(find *)"] }).reason).toBe(
      "`-delete` deletes files; `Bash(find *)` does not cover it. Add `Bash(find * -delete)` to allow it.",
    );
    expect(decideCall(bash("sort --out=x -u f"), { allow: ["Bash(sort *)"] }).reason).toBe(
      "`--output` writes a file; `Bash(sort *)` does not cover it. Add `Bash(sort --out* *)` to allow it.",
    );
  });
});

/** line, allow rules, what is decided */
const TABLE: readonly [line: string, allow: string[], behavior: string][] = [
  ["find . -name x", ["Bash(find *)"], "allow"],
  ["find . -delete", ["Bash(find * -delete)"], "allow"],
  ["find . -delete", ["Bash(find . -delete)"], "allow"],
  ["find . -delete -name x", ["Bash(find * -delete)"], "ask"],
  ["find . -name x -exec cat {} +", ["Bash(find *)"], "ask"],
  ["find . -name x -exec cat {} +", ["Bash(find *)", "Bash(cat *)"], "allow"],
  ["find . -fprint out", ["Bash(find *)"], "ask"],
  ["sort f", ["Bash(sort *)"], "allow"],
  ["sort -k2,2 -t: f", ["Bash(sort *)"], "allow"],
  ["sort -to f", ["Bash(sort *)"], "allow"],
  ["sort -o out f", ["Bash(sort *)"], "ask"],
  ["sort -oout f", ["Bash(sort *)"], "ask"],
  ["sort -no out f", ["Bash(sort *)"], "ask"],
  ["sort f -o out", ["Bash(sort *)"], "ask"],
  ["sort -- f -o", ["Bash(sort *)"], "allow"],
  ["sort --compress-prog=evil f", ["Bash(sort *)"], "ask"],
  ["sort --compress-prog=evil f", ["Bash(sort --compress-program=*)"], "ask"],
  ["sort -o out f", ["Bash(sort -o *)"], "allow"],
  ["sort -o out f", ["Bash(sort -*)", "Bash(sort -* *)"], "ask"],
  ["sort -o out --compress-program=x f", ["Bash(sort -o *)"], "ask"],
  ['sort "$x" f', ["Bash(sort *)"], "ask"],
  ["x='-o out'; sort $x f", ["Bash(sort *)"], "ask"],
  ["sort src/*.txt", ["Bash(sort *)"], "allow"],
  ["sort *.txt", ["Bash(sort *)"], "ask"],
  ["sort ./*.txt", ["Bash(sort *)"], "allow"],
  ['sort -- "$x"', ["Bash(sort *)"], "allow"],
  ["shuf -o out f", ["Bash(shuf *)"], "ask"],
  ["go test -exec ./x ./...", ["Bash(go test *)"], "ask"],
  ["go test -exec=./x ./...", ["Bash(go test *)"], "ask"],
  ["go test -run TestX ./...", ["Bash(go test *)"], "allow"],
  ["sed -n 1,5p f", ["Bash(sed *)"], "allow"],
  ["sed 's/a/b/' f", ["Bash(sed *)"], "allow"],
  ["sed -i 's/a/b/' f", ["Bash(sed *)"], "ask"],
  ["sed -ni.bak p f", ["Bash(sed *)"], "ask"],
  ["sed --in-pl 's/a/b/' f", ["Bash(sed *)"], "ask"],
  ["sed -i 's/a/b/' f", ["Bash(sed -i *)"], "allow"],
  ["sed 'w out' f", ["Bash(sed *)"], "ask"],
  ["sed 'w out' f", ["Bash(sed 'w out' *)"], "allow"],
  ["sed '1e evil' f", ["Bash(sed *)"], "ask"],
  ["awk '{print $1}' f", ["Bash(awk *)"], "allow"],
  ["awk -F, '$3 > 100 || $2 < 3' f", ["Bash(awk *)"], "allow"],
  ["awk '{print > \"x\"}' f", ["Bash(awk *)"], "ask"],
  ["awk 'BEGIN { system(\"evil\") }'", ["Bash(awk *)"], "ask"],
  ["awk '{print | \"evil\"}' f", ["Bash(awk *)"], "ask"],
  ['awk "$x" f', ["Bash(awk *)"], "ask"],
  ["awk -e 'BEGIN { print 1 }' -e 'BEGIN { system(\"evil\") }'", ["Bash(awk *)"], "ask"],
  ["awk -F, -se '{print}' --source='BEGIN { system(\"evil\") }' f", ["Bash(awk *)"], "ask"],
  ["awk -e '{print $1}' -e '{print $2}' f", ["Bash(awk *)"], "allow"],
  ["gawk -i inplace '{print}' f", ["Bash(gawk *)"], "ask"],
  ["git log --oneline -5", ["Bash(git log *)"], "allow"],
  ["git log --output=x", ["Bash(git log *)"], "ask"],
  ["git log --output=x", ["Bash(git log --output=*)"], "allow"],
  ["git -c core.pager=evil log", ["Bash(git *)"], "ask"],
  ["git -c core.pager=evil log", ["Bash(git -c *)"], "allow"],
  ["git -c color.ui=never -c core.pager=evil log", ["Bash(git -c color.ui=never *)"], "ask"],
  ["git -pc core.pager=evil log", ["Bash(git *)"], "ask"],
  ["git diff --ext-diff", ["Bash(git diff *)"], "ask"],
  ["git grep -Oevil x", ["Bash(git grep *)"], "ask"],
  ["git fetch --upload-pack=evil x", ["Bash(git *)"], "ask"],
  ["git clone ext::evil", ["Bash(git *)"], "ask"],
  ["tar -I evil -cf a.tar d", ["Bash(tar *)"], "ask"],
  ["tar cf a.tar --checkpoint-act=exec=evil d", ["Bash(tar *)"], "ask"],
  ["tar czf a.tgz d", ["Bash(tar *)"], "allow"],
  ["curl -s https://example.org", ["Bash(curl *)"], "allow"],
  ["curl -so out https://example.org", ["Bash(curl *)"], "ask"],
  ["curl -O https://example.org/x", ["Bash(curl *)"], "ask"],
  ["curl -dO https://example.org", ["Bash(curl *)"], "allow"],
  ["wget -qO- https://example.org", ["Bash(wget *)"], "ask"],
  ["uniq -c f", ["Bash(uniq *)"], "allow"],
  ["uniq f out", ["Bash(uniq *)"], "ask"],
  ["node a.js", ["Bash(node *)"], "allow"],
  ["node -e 1", ["Bash(node *)"], "ask"],
  ["python3 -m pytest -q", ["Bash(python3 *)"], "allow"],
  ["python3.12 -c 1", ["Bash(python3.12 *)"], "ask"],
  ["perl -ne 'print' f", ["Bash(perl *)"], "ask"],
  ["npm test", ["Bash(npm *)"], "allow"],
  ["npm exec evil", ["Bash(npm *)"], "ask"],
  ["docker ps -a", ["Bash(docker *)"], "allow"],
  ["docker run -v /:/x i", ["Bash(docker *)"], "ask"],
  ["docker run -v /:/x i", ["Bash(docker run *)"], "allow"],
  ["rg --pre evil x", ["Bash(rg *)"], "ask"],
  ["fd -x evil", ["Bash(fd *)"], "ask"],
  ["rsync -ave evil a b", ["Bash(rsync *)"], "ask"],
  ["xargs sort -o out", ["Bash(xargs *)", "Bash(sort *)"], "ask"],
  ["timeout 5 find . -delete", ["Bash(find *)"], "ask"],
  ["find . -delete", ["Bash"], "allow"],
];

describe("rules and options", () => {
  test.each(TABLE)("%s with %j: %s", (line, allow, behavior) => {
    expect(decideCall(bash(line), { allow }).behavior).toBe(behavior);
  });

  test("an option that runs a program may run what a rule denies", () => {
    for (const line of ["sort --compress-program=rm f", "git -c core.pager='rm x' log", "sed '1e rm x' f"])
      expect(decideCall(bash(line), { deny: ["Bash(rm *)"], mode: "yolo" }).behavior).toBe("ask");
  });

  test("an option that writes is an edit to a rule that denies all edits", () => {
    for (const line of ["sort -o out f", "sed -i p f", "find . -delete", "git log --output=x"])
      expect(decideCall(bash(line), { deny: ["Edit"], mode: "yolo" }).behavior).toBe("deny");
  });

  test("a remembered answer names the option", () => {
    expect(decideCall(bash("find . -delete"), { grants: ["Bash(find . -delete)"] }).behavior).toBe("allow");
    expect(decideCall(bash("find . -delete"), { grants: ["Bash(find *)"] }).behavior).toBe("ask");
  });

  test("the table has the programs that agents use", () => {
    expect(programs).toEqual(
      expect.arrayContaining("awk curl docker find git make node npm python rg rsync sed sort tar wget".split(" ")),
    );
  });
});
