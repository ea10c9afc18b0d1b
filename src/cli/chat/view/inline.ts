import type { Token, Tokens } from "marked";
import { color } from "../../terminal/text.ts";
import type { Span, Style } from "./spans.ts";

/** The inline content of a paragraph, as spans. */
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

/** Without colors, code keeps its backticks. */
function code(text: string, style: Style): Span {
  const isMarked = !color.isColorSupported;
  return { text: isMarked ? `\`${text}\`` : text, style: { ...style, code: true } };
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', "#39": "'", nbsp: " " };

function plain(text: string): string {
  return text
    .replaceAll("\n", " ")
    .replaceAll(/&(lt|gt|amp|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name] ?? "");
}

/** Always shows the address, because the model chooses the link text. */
function link(token: Tokens.Link | Tokens.Image, style: Style): Span[] {
  const { href, text } = token;
  const label = token.type === "link" ? inline(token.tokens, style) : [{ text, style }];
  if (text === "" || text === href || `mailto:${text}` === href) return [{ text: text || href, style }];
  return [...label, { text: ` (${href})`, style: { ...style, dim: true } }];
}
