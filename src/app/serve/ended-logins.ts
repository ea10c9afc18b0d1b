import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EndedLogins } from "../../server/http/cookie.ts";

/**
 * Logins that were ended before they expired, as empty files in Capstan's home: a copied cookie stays invalid after a
 * restart, and on other servers with the same home. A file's time says until when it matters.
 */
export function endedLogins(home: string, now: number): EndedLogins {
  const directory = join(home, "ended-logins");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const until = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (until < now) rmSync(path, { force: true });
  }
  return {
    has: (id) => existsSync(join(directory, id)),
    add(id, until) {
      const unfinished = join(directory, `.${id}`);
      writeFileSync(unfinished, "", { mode: 0o600, flush: true });
      utimesSync(unfinished, until / 1_000, until / 1_000);
      renameSync(unfinished, join(directory, id));
    },
  };
}
