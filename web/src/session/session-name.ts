import type { WireSession } from "../../../src/client/index.ts";

type Named = Pick<WireSession, "id"> & Partial<Pick<WireSession, "title" | "first_message">>;

/** The display name of a session: its title, its first message, or the fallback. */
export function nameOf({ id, title, first_message: first }: Named, otherwise = `Session ${id.slice(-8)}`): string {
  return [title, first].find((name) => name?.trim()) ?? otherwise;
}
