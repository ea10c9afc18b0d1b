import { color } from "../terminal/text.ts";

export interface BannerData {
  readonly url: string;
  readonly loginUrl: string;
  readonly project: string;
  readonly rehearsal: boolean;
  /** Whether the user chose the rehearsal; otherwise no credentials were found. */
  readonly wasRequested: boolean;
}

/** The addresses and next steps, in 80 columns. */
export function banner({ url, loginUrl, project, rehearsal, wasRequested }: BannerData): string {
  return [
    `Capstan is running at ${color.bold(url)}`,
    "",
    ...(rehearsal ? [...rehearsalLines(wasRequested), ""] : []),
    row("browser", loginUrl),
    row("", "works once, for ten minutes; later, log in with a key"),
    row("programs", `${url}  (base URL for Anthropic's SDKs)`),
    row("key", "capstan keys create --role admin"),
    row("project", project),
    row("stop", "Ctrl-C"),
    "",
    "",
  ].join("\n");
}

function row(name: string, text: string): string {
  return `  ${color.dim(name.padEnd(10))}${text}`;
}

function rehearsalLines(wasRequested: boolean): string[] {
  const next = wasRequested ? "start without --rehearsal" : "set ANTHROPIC_API_KEY and restart";
  return [
    `${color.yellow("REHEARSAL")}: ${wasRequested ? "" : "no credentials found, so "}a built-in scripted model answers.`,
    "Agents, tools and files are real.",
    `For a real model, ${next}.`,
  ];
}
