import { colour } from "../terminal/text.ts";

export interface Told {
  readonly url: string;
  readonly loginUrl: string;
  readonly project: string;
  readonly rehearsal: boolean;
  /** Whether the rehearsal was asked for; else there was nothing else to do. */
  readonly wasAsked: boolean;
}

/** What a person needs at the start, in 80 columns. */
export function banner({ url, loginUrl, project, rehearsal, wasAsked }: Told): string {
  return [
    `Capstan serves ${colour.bold(url)}`,
    "",
    ...(rehearsal ? [...rehearsalLines(wasAsked), ""] : []),
    row("browser", loginUrl),
    row("", "once, within ten minutes; later with a key"),
    row("programs", `${url}  as base URL of Anthropic's own clients`),
    row("key", "capstan keys create --role admin"),
    row("project", project),
    row("stop", "Ctrl-C"),
    "",
    "",
  ].join("\n");
}

function row(name: string, text: string): string {
  return `  ${colour.dim(name.padEnd(10))}${text}`;
}

function rehearsalLines(wasAsked: boolean): string[] {
  const next = wasAsked ? "start without --rehearsal" : "set ANTHROPIC_API_KEY and start again";
  return [
    `${colour.yellow("REHEARSAL")}: ${wasAsked ? "" : "there are no credentials, so "}a built-in scripted model answers.`,
    "Agents, tools and files are real.",
    `For a real model ${next}.`,
  ];
}
