import type { Token, Tokens } from "marked";
import { colour } from "../../terminal/text.ts";
import type { Span, Style } from "./spans.ts";

/** What stands within a paragraph, as pieces of text. */
export function inline(tokens: readonly Token[] | undefined, style: Style = {}): Span[] {
  return (tokens ?? []).flatMap((token) => inlineToken(token, style));
}

function inlineToken(token: Token, style: Style): Span[] {
  switch (token.type) {
    case "strong":
      return inline(token.tokens, { ...style, bold: true });
    case "em":
      return inline(token.tokens, { ...style, italic: true });
    case "del":
      return inline(token.tokens, { ...style, strike: true });
    case "codespan":
      return [code((token as Tokens.Codespan).text, style)];
    case "br":
      return [{ text: "\n" }];
    case "link":
    case "image":
      return link(token as Tokens.Link | Tokens.Image, style);
    case "text":
    case "escape": {
      const { text, tokens } = token as Tokens.Text;
      if (tokens !== undefined) return inline(tokens, style);
      return [{ text: plain(text), style }];
    }
    default:
      return [{ text: token.raw.replaceAll("\n", " "), style }];
  }
}

/** Where there are no colours, code keeps its marks. */
function code(text: string, style: Style): Span {
  const isMarked = !colour.isColorSupported;
  return { text: isMarked ? `\`${text}\`` : text, style: { ...style, code: true } };
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', "#39": "'", nbsp: " " };

function plain(text: string): string {
  return text
    .replaceAll("\n", " ")
    .replaceAll(/&(lt|gt|amp|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name] ?? "");
}

/** The address is always shown: what a link says and where it leads are both the model's words. */
function link(token: Tokens.Link | Tokens.Image, style: Style): Span[] {
  const { href, text } = token;
  const label = token.type === "link" ? inline(token.tokens, style) : [{ text, style }];
  if (text === "" || text === href || `mailto:${text}` === href) return [{ text: text || href, style }];
  return [...label, { text: ` (${href})`, style: { ...style, dim: true } }];
}
