import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { isBase64, type ToolContent } from "../../core/events/content.ts";
import type { BuiltinOutcome, ToolDirectories } from "./tools/builtin-tool.ts";
import { boundedResult, makeResultsDirectory } from "./tools/search/long-result.ts";

interface Called {
  readonly server: string;
  readonly place: ToolDirectories;
  readonly callId: string;
}

type Block = CallToolResult["content"][number];

/** Image types that the model API accepts. */
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** A result with more text is saved to a file. */
const MOST_CHARACTERS = 100_000;
/** For saved files. The extension only indicates the kind of content. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  "text/plain": "txt",
  "application/json": "json",
  "application/pdf": "pdf",
  "image/svg+xml": "svg",
  "audio/wav": "wav",
  "audio/mpeg": "mp3",
};

/** Converts the result of a server's tool for the model. */
export function mcpOutcome(result: CallToolResult, called: Called): BuiltinOutcome {
  const isError = result.isError === true;
  const { structuredContent } = result;
  const blocks: ToolContent =
    structuredContent !== undefined && !isError
      ? [{ type: "text", text: JSON.stringify(structuredContent) }]
      : result.content.flatMap((block) => contentOf(block, called));
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const { place, callId } = called;
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length > MOST_CHARACTERS) {
    const { content, outputFile } = boundedResult(texts.join("\n"), { place, callId, most: MOST_CHARACTERS });
    const others = blocks.filter(({ type }) => type !== "text");
    return { content: [...content, ...others], isError, ...(outputFile !== undefined && { outputFile }) };
  }
  return { content: blocks, isError };
}

function contentOf(block: Block, called: Called): ToolContent {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text }];
    case "image":
      return binary(block, `[Image from ${called.server}]`, called);
    case "audio":
      return binary(block, `[Audio from ${called.server}]`, called);
    case "resource_link": {
      const about = block.description === undefined ? "" : ` (${block.description})`;
      return [{ type: "text", text: `[Resource link: ${block.name}] ${block.uri}${about}` }];
    }
    case "resource": {
      const { resource } = block;
      const title = `[Resource from ${called.server} at ${resource.uri}]`;
      if ("text" in resource) return [{ type: "text", text: `${title} ${resource.text}` }];
      return binary({ data: resource.blob, mimeType: resource.mimeType ?? "application/octet-stream" }, title, called);
    }
  }
}

/** Shows an image; saves anything else to a file and gives the model its path. */
function binary(
  { data, mimeType }: { readonly data: string; readonly mimeType: string },
  title: string,
  { server, place }: Called,
): ToolContent {
  if (!isBase64(data)) return [{ type: "text", text: `${title} Its content is not valid base64.` }];
  if (PICTURES.includes(mimeType)) return [{ type: "image", source: { type: "base64", data, media_type: mimeType } }];
  const bytes = Buffer.from(data, "base64");
  const file = join(makeResultsDirectory(place), `mcp-${server}-blob-${randomUUID()}.${EXTENSIONS[mimeType] ?? "bin"}`);
  writeFileSync(file, bytes, { mode: 0o600, flag: "wx" });
  return [{ type: "text", text: `${title} Binary content (${mimeType}, ${bytes.length} bytes) saved to ${file}` }];
}
