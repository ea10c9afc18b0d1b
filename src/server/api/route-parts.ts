import { z } from "zod";

/** The names in braces of a path, each a text. */
export function paramsIn(path: string): z.ZodObject {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  return z.object(Object.fromEntries(names.map((name) => [name, z.string().min(1)])));
}

/** How an answer is documented that is no JSON. */
export function bytes(mediaType: string): Record<string, { schema: { type: "string"; format?: "binary" } }> {
  const isText = mediaType.startsWith("text/") || mediaType.endsWith("jsonl");
  return { [mediaType]: { schema: isText ? { type: "string" } : { type: "string", format: "binary" } } };
}
