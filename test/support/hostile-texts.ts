/** What somebody writes who wants a page to do something else than show it. */

const IMAGE = `<img src="https://evil.invalid/i.png" onerror="window.pwned = 1">`;
const SCRIPT = `<script>window.pwned = 1; fetch("https://evil.invalid/s")</script>`;

export const HOSTILE_MARKUP = `${IMAGE}${SCRIPT}`;

/** One line, as in titles, names and reasons. */
export const HOSTILE_LINE = `${HOSTILE_MARKUP} \u202Egnp.exe\u202C \u0007\u001B[31m javascript:window.pwned=1 ${"w".repeat(300)}`;

/** The same as markdown, with all that markdown can load, run or hide behind. */
export const HOSTILE_MARKDOWN = [
  HOSTILE_LINE,
  SCRIPT,
  `<iframe src="https://evil.invalid/f" srcdoc="<script>parent.pwned = 1</script>"></iframe>`,
  `<svg onload="window.pwned = 1"><style>@import "https://evil.invalid/c.css"; * { display: none }</style></svg>`,
  "![a picture](https://evil.invalid/remote.png)",
  "![one of data](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+)",
  "[a script](javascript:window.pwned=1) [with a tab](java\tscript:window.pwned=1) [of data](data:text/html,<script>opener.pwned=1</script>)",
  "[reference][r] <javascript:window.pwned=1> [file](file:///etc/passwd) [blob](blob:https://evil.invalid/x)",
  `[r]: javascript:window.pwned=1 "${HOSTILE_LINE}"`,
  `| ${"wide | ".repeat(60)}\n|${"-|".repeat(60)}\n${`| ${"cell | ".repeat(60)}\n`.repeat(20)}`,
  `\`\`\`html\n${SCRIPT}${"w".repeat(2_000)}\n\`\`\``,
  "x".repeat(5_000),
  "The end of what is hostile.",
].join("\n\n");

/** Ten thousand levels: minutes for a parser, and more than its stack. */
export const DEEP_LISTS = `${"- ".repeat(10_000)}deep`;

export const RIGHT_TO_LEFT = "مرحبا بالعالم 👩‍👩‍👧‍👦 هذا نص باللغة العربية";
