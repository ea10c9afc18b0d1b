import { STATUS_CODES } from "node:http";
import { isIP } from "node:net";
import { z } from "zod";
import type { SandboxPlan } from "../../../core/environment/sandbox.ts";
import { isOwnNetwork } from "../../../network/private-address.ts";
import { traitsOf } from "../../builtin-tools.ts";
import { type BuiltinCall, type BuiltinOutcome, type BuiltinTool, textOutcome } from "./builtin-tool.ts";
import { runForOutcome, inputRefusal, ToolFailure } from "./files/open-file.ts";
import { type AllowsPrivate, fetchPage, type FetchedPage } from "./web/fetch-page.ts";
import { htmlToMarkdown } from "./web/html-to-markdown.ts";

const input = z.strictObject({
  url: z.url().describe("The URL to fetch content from"),
  prompt: z.string().describe("What you want to know from the page"),
  offset: z
    .int()
    .min(0)
    .optional()
    .describe(
      "Character position in the page text to start reading from. Use it to read on through a page too long for one call, with the value the previous result gave.",
    ),
});
/** Shared by all sessions, so that it is created and compiled once. */
const INPUT_SCHEMA = z.toJSONSchema(input);

type Input = z.infer<typeof input>;

const DESCRIPTION = `Fetches a URL, converts the page to markdown, and returns it for you to answer \`prompt\` from.

- Fails on authenticated/private URLs — use an authenticated MCP tool for those instead.
- Fails on localhost and other hostnames without a dot; for a local server, use curl via Bash.
- HTTP is upgraded to HTTPS. Cross-host redirects are returned to you rather than followed; call again with the redirect URL.
- A long page is returned in parts; read on with \`offset\`.`;

const MOST_CHARACTERS = 50_000;
const LONGEST_ADDRESS = 2_000;

export function webFetchTool({ sandbox }: { readonly sandbox?: SandboxPlan | undefined }): BuiltinTool {
  return {
    name: "WebFetch",
    description: DESCRIPTION,
    inputSchema: INPUT_SCHEMA,
    traits: traitsOf("WebFetch"),
    run: (given, call) => runForOutcome(() => run(input.parse(given), call, sandbox)),
  };
}

async function run(given: Input, { signal }: BuiltinCall, sandbox: SandboxPlan | undefined): Promise<BuiltinOutcome> {
  const url = new URL(given.url);
  const named = isNamed(url.hostname, sandbox);
  requireUsual(url, named);
  if (!named && url.protocol === "http:") url.protocol = "https:";
  const page = await fetchPage(url, privateAddresses(url, named), signal);
  if (page.kind === "elsewhere") return textOutcome(redirectNotice(page, given.prompt));
  const text = pageText(page);
  if (page.status >= 400)
    return textOutcome(
      `${url.host} answered ${page.status} ${STATUS_CODES[page.status] ?? ""}.\n\n${text.slice(0, 2_000)}`.trim(),
      true,
    );
  return textOutcome(part(text, given.offset ?? 0));
}

/** Whether a person added exactly this name, not a pattern, to the session's allowed network. */
function isNamed(hostname: string, sandbox: SandboxPlan | undefined): boolean {
  return sandbox?.domains.includes(hostname.toLowerCase()) === true;
}

/**
 * A name that a person allowed may resolve to a private network. This machine, its local link and cloud metadata
 * services are reachable only by IP address or as localhost: the owner of any other name could point it there.
 */
function privateAddresses({ hostname }: URL, named: boolean): AllowsPrivate {
  const isLocalName = hostname === "localhost" || isIP(hostname) !== 0;
  return (address) => named && (isLocalName || isOwnNetwork(address));
}

function requireUsual(url: URL, named: boolean): void {
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw inputRefusal(`Cannot fetch ${url.protocol} URLs. Use one that starts with https:// or http://.`);
  if (url.username !== "" || url.password !== "")
    throw inputRefusal("The URL contains a user name or a password. Remove them.");
  if (url.href.length > LONGEST_ADDRESS) throw inputRefusal(`The URL is longer than ${LONGEST_ADDRESS} characters.`);
  if (!named && !url.hostname.includes(".") && !url.hostname.includes(":"))
    throw new ToolFailure(
      "WebFetch cannot fetch localhost or other hostnames without a dot. To reach a local server, use Bash with curl instead.",
    );
}

function pageText({ type, body, url }: Extract<FetchedPage, { kind: "page" }>): string {
  const [, charset = "utf-8"] = /charset=["']?([\w-]+)/.exec(type) ?? [];
  if (!/^(?:text\/|application\/(?:[\w.+-]*(?:json|xml|javascript|yaml)|x-sh|graphql))/.test(type))
    throw new ToolFailure(
      `${url.host} sent ${type.split(";")[0] ?? type}, ${body.length} bytes, which is not text. Download it with a shell command to work with it.`,
    );
  const text = decodeBody(body, charset);
  return /^(?:text\/html|application\/xhtml)/.test(type) ? htmlToMarkdown(text, url.href) : text;
}

function decodeBody(body: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    // An unknown charset is most often a misspelled utf-8.
    return body.toString("utf8");
  }
}

function part(text: string, offset: number): string {
  if (text === "") return "The page has no text.";
  if (offset >= text.length) return `The page has ${text.length} characters, and none at offset ${offset}.`;
  const end = offset + MOST_CHARACTERS;
  const shown = text.slice(offset, end);
  if (end >= text.length) return shown;
  return `${shown}\n\n[Characters ${offset} to ${end} of ${text.length} are shown. Read on with offset: ${end}.]`;
}

function redirectNotice(
  { from, to, status, text }: Extract<FetchedPage, { kind: "elsewhere" }>,
  prompt: string,
): string {
  return `REDIRECT DETECTED: The URL redirects to a different host.

Original URL: ${from.href}
Redirect URL: ${to.href}
Status: ${status} ${text}

To complete your request, I need to fetch content from the redirected URL. Please use WebFetch again with these parameters:
- url: "${to.href}"
- prompt: "${prompt}"`;
}
