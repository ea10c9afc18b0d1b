import type { FileRecord } from "../../core/registry.ts";
import type { ServerDeps } from "../context.ts";
import { notFound } from "./request.ts";

/** A file of another project is not there, nor one that has expired. */
export async function findFile(
  { registry, clock }: Pick<ServerDeps, "registry" | "clock">,
  project: string,
  id: string,
): Promise<FileRecord> {
  const found = await registry.files.get(project, id, clock.now());
  if (found === undefined) throw notFound("file", id);
  return found;
}
