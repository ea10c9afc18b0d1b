import type { CapstanError } from "../../core/errors.ts";
import { shortId } from "../terminal/text.ts";

/** Why a session's workspace is kept, and how to get what is in it. */
export function whyKept(sessionId: string, { data }: CapstanError): string {
  const session = shortId(sessionId);
  if (typeof data["why"] === "string") return data["why"];
  return `it has changes that were not exported. See them with capstan diff ${session}; take them with capstan apply or capstan export`;
}
