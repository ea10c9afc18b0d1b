import type { CapstanError } from "../../core/errors.ts";
import { shortId } from "../terminal/text.ts";

/** Why a session's workspace was not removed, and how to get its changes. */
export function whyKept(sessionId: string, { data }: CapstanError): string {
  const session = shortId(sessionId);
  if (typeof data["why"] === "string") return data["why"];
  return `it has unexported changes. Review them with capstan diff ${session}, and save them with capstan apply or capstan export`;
}
