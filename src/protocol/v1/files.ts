import { z } from "zod";
import type { FileRecord } from "../../core/ports/registry.ts";
import { time, timeOrNull } from "./fields.ts";
import { limitUpTo, listOf, page } from "./queries.ts";
import { invalid, notSupported } from "./refusal.ts";

/** Uploaded files as clients of the API write and see them. */

const MAX_FILES = 1_000;
const MAX_IDS = 100;

export const fileList = z.strictObject({
  limit: limitUpTo(MAX_FILES).unwrap().optional(),
  page,
  ids: listOf(z.string()),
  scope_id: z.string().optional(),
});

export function requireOneWay({ limit, page: at, ids, scope_id: scope }: z.infer<typeof fileList>): void {
  if (scope !== undefined)
    throw notSupported("files of a session in /v1/files", "Read them with GET /api/sessions/{id}/workspace.");
  if (ids !== undefined && (limit !== undefined || at !== undefined))
    throw invalid("ids: a list of ids is one page. Leave limit and page out.");
  if (new Set(ids).size > MAX_IDS) throw invalid(`ids: at most ${MAX_IDS} may be asked for at once.`);
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

/** The last part of what the client calls the file. It becomes a name in workspaces and in headers. */
export function safeFilename(given: string | undefined, mimeType: string): string {
  const last = given?.split(/[/\\]/).at(-1)?.trim() ?? "";
  if (/\p{Cc}|\p{Cs}/u.test(last)) throw invalid("file: the filename has control characters. Give it another one.");
  if (last.length > MAX_NAME) throw invalid(`file: the filename has more than ${MAX_NAME} characters. Shorten it.`);
  return /^\.*$/.test(last) ? `unnamed${EXTENSIONS[mimeType] ?? ""}` : last;
}

/** Without parameters; what is no type at all is bytes. */
export function plainType(header: string | undefined): string {
  const [type = ""] = (header ?? "").toLowerCase().split(";");
  return /^[\w.+-]+\/[\w.+-]+$/.test(type.trim()) ? type.trim() : "application/octet-stream";
}

/** A name that cannot be taken for another header, as text and as itself. */
export function attachment(filename: string): string {
  const plain = filename.replaceAll(/[^\w .-]/g, "_");
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(filename).replaceAll("'", "%27")}`;
}

export function fileView({ id, filename, mimeType, sizeBytes, createdAt, expiresAt }: FileRecord) {
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
