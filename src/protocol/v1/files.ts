import { z } from "zod";
import type { FileRecord } from "../../core/ports/registry.ts";
import { time, timeOrNull } from "./fields.ts";
import { limitUpTo, repeatedParam, page } from "./queries.ts";
import { invalid, notSupported } from "./refusal.ts";

/** Uploaded files in requests and responses of the API. */

const MAX_FILES = 1_000;
const MAX_IDS = 100;

export const fileListQuery = z.strictObject({
  limit: limitUpTo(MAX_FILES).unwrap().optional(),
  page,
  ids: repeatedParam(z.string()),
  scope_id: z.string().optional(),
});

export function requireOneWay({ limit, page: at, ids, scope_id: scope }: z.infer<typeof fileListQuery>): void {
  if (scope !== undefined)
    throw notSupported("files of a session in /v1/files", "Read them with GET /api/sessions/{id}/workspace.");
  if (ids !== undefined && (limit !== undefined || at !== undefined))
    throw invalid("ids: a list of ids is one page. Omit limit and page.");
  if (new Set(ids).size > MAX_IDS) throw invalid(`ids: at most ${MAX_IDS} can be requested at once.`);
}

const HOUR = 3_600;
const NINETY_DAYS = 7_776_000;

export const lifetime = z
  .string()
  .regex(/^\d{1,9}$/, "expected a number of seconds")
  .transform(Number)
  .pipe(z.number().min(HOUR, "expected at least an hour, 3600").max(NINETY_DAYS, "expected at most 90 days, 7776000"));

const EXTENSIONS: Readonly<Record<string, string>> = {
  "application/json": ".json",
  "application/pdf": ".pdf",
  "image/gif": ".gif",
  "image/jpeg": ".jpg",
  "image/png": ".png",
  "image/webp": ".webp",
  "text/csv": ".csv",
  "text/markdown": ".md",
  "text/plain": ".txt",
};
const MAX_NAME = 255;

/** The last part of the client's file name. It becomes a name in workspaces and headers. */
export function safeFilename(given: string | undefined, mimeType: string): string {
  const last = given?.split(/[/\\]/).at(-1)?.trim() ?? "";
  if (/\p{Cc}|\p{Cs}/u.test(last)) throw invalid("file: the filename contains control characters. Use another name.");
  if (last.length > MAX_NAME) throw invalid(`file: the filename has more than ${MAX_NAME} characters. Shorten it.`);
  return /^\.*$/.test(last) ? `unnamed${EXTENSIONS[mimeType] ?? ""}` : last;
}

/** Without parameters; anything that is not a media type counts as bytes. */
export function plainType(header: string | undefined): string {
  const [type = ""] = (header ?? "").toLowerCase().split(";");
  return /^[\w.+-]+\/[\w.+-]+$/.test(type.trim()) ? type.trim() : "application/octet-stream";
}

/** Encodes a name safely for the header, both as ASCII and as UTF-8. */
export function attachment(filename: string): string {
  const plain = filename.replaceAll(/[^\w .-]/g, "_");
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(filename).replaceAll("'", "%27")}`;
}

export function fileToWireV1({ id, filename, mimeType, sizeBytes, createdAt, expiresAt }: FileRecord) {
  return {
    type: "file" as const,
    id,
    filename,
    mime_type: mimeType,
    size_bytes: sizeBytes,
    downloadable: true,
    created_at: time(createdAt),
    expires_at: timeOrNull(expiresAt),
    scope: null,
  };
}
