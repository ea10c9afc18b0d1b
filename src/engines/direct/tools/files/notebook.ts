import { z } from "zod";
import type { ToolContent } from "../../../../core/events/content.ts";
import { ToolFailure } from "./open-file.ts";

const text = z.union([z.string(), z.array(z.string())]);
const output = z.looseObject({
  output_type: z.string(),
  text: text.optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  ename: z.string().optional(),
  evalue: z.string().optional(),
  traceback: z.array(z.string()).optional(),
});
const cell = z.looseObject({
  cell_type: z.string(),
  id: z.string().optional(),
  source: text,
  outputs: z.array(output).optional(),
});
const notebook = z.looseObject({
  cells: z.array(cell),
  nbformat: z.number().optional(),
  nbformat_minor: z.number().optional(),
  metadata: z.looseObject({ language_info: z.looseObject({ name: z.string() }).optional() }).optional(),
});

export type Notebook = z.infer<typeof notebook>;
type Output = z.infer<typeof output>;

/** Limit for one output. The model is told how to see the rest. */
const MAX_OUTPUT_CHARACTERS = 10_000;

export function parseNotebook(content: string): Notebook {
  const parsed = notebook.safeParse(safeJson(content));
  if (parsed.success) return parsed.data;
  throw new ToolFailure("Not a valid notebook: it must be JSON with a list of cells.");
}

function safeJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

/** A cell without an id is identified by its index. */
export function cellId({ id }: { readonly id?: string | undefined }, index: number): string {
  return id ?? `cell-${index}`;
}

/** The cells with their outputs; adjacent texts are one block. */
export function notebookContent(read: Notebook): ToolContent {
  const language = read.metadata?.language_info?.name ?? "python";
  const blocks: ToolContent = [];
  const add = (block: ToolContent[number]): void => {
    const last = blocks.at(-1);
    if (last?.type === "text" && block.type === "text") last.text += `\n${block.text}`;
    else blocks.push(block);
  };
  for (const [index, one] of read.cells.entries()) {
    const id = cellId(one, index);
    const marks = [
      one.cell_type === "code" ? "" : `<cell_type>${one.cell_type}</cell_type>`,
      one.cell_type === "code" && language !== "python" ? `<language>${language}</language>` : "",
    ].join("");
    add({ type: "text", text: `<cell id="${id}">${marks}${joinLines(one.source)}</cell id="${id}">` });
    for (const result of one.outputs ?? []) for (const block of outputContent(result)) add(block);
  }
  return blocks;
}

function outputContent(result: Output): ToolContent {
  const { data = {} } = result;
  const said =
    result.output_type === "error"
      ? `${result.ename ?? ""}: ${result.evalue ?? ""}\n${(result.traceback ?? []).join("\n")}`
      : result.output_type === "stream"
        ? joinLines(result.text ?? "")
        : joinLines(text.safeParse(data["text/plain"]).data ?? "");
  const picture = (["image/png", "image/jpeg"] as const).find((type) => text.safeParse(data[type]).success);
  return [
    ...(said === "" ? [] : [{ type: "text" as const, text: `\n${clipOutput(said)}` }]),
    ...(picture === undefined
      ? []
      : [
          {
            type: "image" as const,
            source: {
              type: "base64" as const,
              data: joinLines(text.parse(data[picture])).replaceAll(/\s/g, ""),
              media_type: picture,
            },
          },
        ]),
  ];
}

function clipOutput(said: string): string {
  return said.length <= MAX_OUTPUT_CHARACTERS
    ? said
    : `${said.slice(0, MAX_OUTPUT_CHARACTERS)}\n[${said.length - MAX_OUTPUT_CHARACTERS} more characters of this output are not shown]`;
}

function joinLines(source: string | readonly string[]): string {
  return typeof source === "string" ? source : source.join("");
}
