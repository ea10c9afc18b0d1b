/** The style of the HTML report, light and dark. No fonts or images: the page loads nothing. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --ink: #1b2130; --dim: #5a6377; --line: #dfe3ea; --sunk: #f1f3f7; --link: #1d4fd7;
  --good: #14713d; --good-back: #e0f4e8; --bad: #b3261e; --bad-back: #fce8e6; --warn: #855000; --warn-back: #fdf0d5;
  --calm: #4d5668; --calm-back: #e8ebf1; --top: #17202f; --sub: #6d4fc4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #10141c; --card: #181e29; --ink: #e4e8f0; --dim: #9ba6ba; --line: #2b3445; --sunk: #121721; --link: #8ab0ff;
    --good: #63d594; --good-back: #123222; --bad: #ff8f86; --bad-back: #3d1a1a; --warn: #f2c063; --warn-back: #38290e;
    --calm: #b0b9ca; --calm-back: #263041; --top: #0a0d13; --sub: #b39dfa;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
.wide { max-width: 62rem; margin: 0 auto; padding-inline: 1.25rem; }
h1, h2, h3, h4, p, ul, ol, dl, dd, blockquote { margin: 0; padding: 0; }
h1 { font-size: 2rem; line-height: 1.2; letter-spacing: -0.01em; }
h2 { font-size: 1.3rem; line-height: 1.3; overflow-wrap: anywhere; }
h3 { font-size: 0.8rem; text-transform: uppercase; letter-spacing: 0.06em; color: var(--dim); margin: 1.25rem 0 0.5rem; }
h4 { font-size: 0.9rem; margin: 1rem 0 0.4rem; }
ul, ol { list-style: none; }
a { color: var(--link); overflow-wrap: anywhere; }
code, pre { font: 0.82rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
code { overflow-wrap: anywhere; }
.dim { color: var(--dim); font-weight: 400; overflow-wrap: anywhere; }
.said { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 0.5rem; background: var(--card); padding: 0.4rem 0.8rem; z-index: 1; }

.top { background: var(--top); color: #fff; padding: 2rem 0; border-bottom: 5px solid; }
.top.good { border-color: #2fa866; }
.top.bad { border-color: #e0483d; }
.brand { font-size: 0.8rem; text-transform: uppercase; letter-spacing: 0.08em; color: #aab4c6; }
.when { color: #c8d0de; margin-top: 0.35rem; }

main { padding-top: 1.75rem; padding-bottom: 1rem; }
.bar { display: block; width: 100%; height: 10px; border-radius: 5px; background: var(--line); }
rect.passed { fill: #2fa866; } rect.failed { fill: #e0483d; } rect.error { fill: #e39a1c; }
rect.not_run { fill: #8d7cc9; } rect.skipped { fill: #98a2b3; }
.legend { display: flex; flex-wrap: wrap; gap: 0.5rem 1.25rem; margin: 0.75rem 0 1.25rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr)); gap: 0.75rem; }
.tile { min-width: 0; overflow-wrap: anywhere; background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 0.8rem 1rem; }
.tile dt { color: var(--dim); font-size: 0.85rem; }
.tile dd { font-size: 1.35rem; font-weight: 650; line-height: 1.3; font-variant-numeric: tabular-nums; }
.tile small { display: block; font-size: 0.8rem; font-weight: 400; color: var(--dim); }

.badge { display: inline-block; flex: none; padding: 0.05rem 0.55rem; border-radius: 999px; font-size: 0.78rem; font-weight: 650; line-height: 1.5;
  min-width: 0; max-width: 100%; white-space: nowrap; overflow: clip; text-overflow: ellipsis; color: var(--calm); background: var(--calm-back); }
.badge.passed { color: var(--good); background: var(--good-back); }
.badge.failed { color: var(--bad); background: var(--bad-back); }
.badge.error, .badge.not_run { color: var(--warn); background: var(--warn-back); }

.attention, .suite { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1.1rem 1.25rem; margin-top: 1.25rem; }
.attention { border-left: 5px solid #e0483d; }
.attention h2 { margin-bottom: 0.6rem; font-size: 1.1rem; }
.gates li { display: grid; grid-template-columns: 7.5rem minmax(0, 1fr); gap: 0.7rem; align-items: baseline; padding: 0.35rem 0; overflow-wrap: anywhere; }
.gates li + li { border-top: 1px solid var(--line); }
.gates .badge { justify-self: start; }
.gates a, .gates strong { display: block; }
.suite > header p { font-size: 0.9rem; margin-top: 0.15rem; }
.filter { margin-top: 1.25rem; }
.filter label { cursor: pointer; }
body:has(#hide-passed:checked) .case.passed { display: none; }

summary { cursor: pointer; }
.cases { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.5rem; }
.case { border: 1px solid var(--line); border-radius: 8px; }
.case:target { border-color: var(--link); }
.case > summary { display: flex; flex-wrap: wrap; gap: 0.35rem 0.7rem; align-items: baseline; padding: 0.55rem 0.8rem; list-style: none; border-radius: 8px; }
.case > summary::-webkit-details-marker { display: none; }
.case > summary:hover { background: var(--sunk); }
.case > summary::before { content: "▸"; color: var(--dim); }
.case[open] > summary::before { content: "▾"; }
.case .name { font-weight: 600; overflow-wrap: anywhere; min-width: 0; }
.tags { display: flex; flex-wrap: wrap; gap: 0.3rem; }
.tags:empty { display: none; }
.tag { font-size: 0.75rem; color: var(--dim); border: 1px solid var(--line); border-radius: 4px; padding: 0 0.35rem; overflow-wrap: anywhere; }
.numbers { margin-left: auto; justify-content: flex-end; display: flex; flex-wrap: wrap; gap: 0.2rem 0.9rem; color: var(--dim); font-size: 0.85rem; font-variant-numeric: tabular-nums; }
.case > .inside { padding: 0.2rem 0.9rem 0.9rem; border-top: 1px solid var(--line); }

.facts { display: flex; flex-wrap: wrap; gap: 0.35rem 1.4rem; margin: 0.7rem 0; font-size: 0.85rem; }
.facts div { display: flex; gap: 0.4rem; min-width: 0; }
.facts dt { color: var(--dim); flex: none; }
.facts dd { overflow-wrap: anywhere; min-width: 0; font-variant-numeric: tabular-nums; }
.why { margin-top: 0.6rem; }
.trouble { background: var(--warn-back); color: var(--warn); border-radius: 8px; padding: 0.6rem 0.8rem; margin: 0.6rem 0; }
.verdicts { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.4rem; }
.verdicts > li { border-left: 4px solid var(--line); padding: 0.1rem 0 0.1rem 0.7rem; }
.verdicts > li.passed { border-color: #2fa866; }
.verdicts > li.failed { border-color: #e0483d; }
.verdicts .line { display: flex; flex-wrap: wrap; gap: 0.2rem 0.5rem; align-items: baseline; overflow-wrap: anywhere; }
.verdicts .passed .mark { color: var(--good); } .verdicts .failed .mark { color: var(--bad); }
.mark { font-weight: 700; }
blockquote { background: var(--sunk); border-radius: 8px; padding: 0.6rem 0.8rem; max-height: 22rem; overflow: auto; }

pre { margin: 0.4rem 0; padding: 0.6rem 0.75rem; background: var(--sunk); border: 1px solid var(--line); border-radius: 8px; overflow: auto;
  max-height: 30rem; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4; }
.diff { padding: 0.4rem 0; white-space: pre; }
.diff span { display: block; min-width: max-content; padding: 0 0.75rem; }
.diff .added { color: var(--good); background: var(--good-back); }
.diff .removed { color: var(--bad); background: var(--bad-back); }
.diff .hunk { color: var(--link); }
.diff .file { color: var(--dim); font-weight: 700; }
.fold { margin-top: 0.7rem; border: 1px solid var(--line); border-radius: 8px; }
.fold > summary { overflow-wrap: anywhere; padding: 0.4rem 0.75rem; font-weight: 600; font-size: 0.9rem; border-radius: 8px; }
.fold > summary:hover { background: var(--sunk); }
.fold > .inside { padding: 0 0.75rem 0.6rem; }

.transcript { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.15rem; font-size: 0.9rem; }
.step { display: grid; grid-template-columns: 5.2rem minmax(0, 1fr) fit-content(7rem); gap: 0 0.75rem; align-items: baseline; padding: 0.25rem 0; border-top: 1px solid var(--line); }
.transcript > .step:first-child { border-top: 0; }
.kind { color: var(--dim); font-size: 0.78rem; text-align: right; }
.step summary { overflow-wrap: anywhere; }
.step.tool summary, .step.tool .said { font: 0.82rem/1.6 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.step.user .said { font-weight: 600; }
.step.thinking, .step.note { color: var(--dim); }
.step.thinking .what { font-style: italic; }
.step.error .what, .step.limit .what { color: var(--bad); }
.step.approval .what { color: var(--warn); }
.subagent { margin: 0.4rem 0 0.4rem 2rem; padding: 0.3rem 0 0.3rem 0.9rem; border-left: 3px solid var(--sub); }
.who { overflow-wrap: anywhere; color: var(--sub); font-size: 0.82rem; }

.scroll { overflow-x: auto; margin: 0.7rem 0; }
.chances { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
.chances caption { text-align: left; color: var(--dim); padding-bottom: 0.3rem; }
.chances th, .chances td { border: 1px solid var(--line); padding: 0.2rem 0.6rem; text-align: right; white-space: nowrap; }
.chances th[scope="row"] { text-align: left; font-weight: 500; }
footer { color: var(--dim); font-size: 0.85rem; padding-top: 0.5rem; padding-bottom: 2rem; overflow-wrap: anywhere; }

@media (max-width: 40rem) {
  .wide { padding-inline: 0.8rem; }
  .top { padding: 1.3rem 0; }
  h1 { font-size: 1.6rem; }
  .tiles { grid-template-columns: 1fr 1fr; }
  .tile dd { font-size: 1.1rem; }
  .attention, .suite { padding: 0.9rem 0.8rem; }
  .gates li { grid-template-columns: minmax(0, 1fr); gap: 0.1rem; }
  .case .name { flex: 1 1 55%; }
  .numbers { margin-left: 0; justify-content: flex-start; }
  .diff { white-space: pre-wrap; }
  .diff span { min-width: 0; padding-left: 1.75rem; text-indent: -1rem; }
  .step { grid-template-columns: minmax(0, 1fr) fit-content(7rem); }
  .kind { text-align: left; }
  .what { grid-column: 1 / -1; }
  .step .badge { grid-area: 1 / 2; }
  .subagent { margin-left: 0.5rem; padding-left: 0.6rem; }
}
@media print { .case, .fold { break-inside: avoid; } pre, blockquote { max-height: none; } }
`;
