import type { WireSession } from "../../../src/client/index.ts";

type Named = Pick<WireSession, "id"> & Partial<Pick<WireSession, "title" | "first_message">>;

/** What people call a session: its title, else its first words, else what is known of it anyway. */
export function nameOf({ id, title, first_message: first }: Named, otherwise = `Session ${id.slice(-8)}`): string {
  return [title, first].find((name) => name?.trim()) ?? otherwise;
}
