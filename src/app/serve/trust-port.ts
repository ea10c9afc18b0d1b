import { loadConfiguration } from "../../config/load.ts";
import { type TrustRecord, TrustBook } from "../../config/trust/trust-book.ts";
import { changesSince } from "../../config/trust/difference.ts";
import type { TrustItem } from "../../config/trust/trust-item.ts";
import { ASSUMED_TRUST, recordedTrust } from "../../config/trust/recorded-trust.ts";
import { wideningText } from "../../config/trust/words.ts";
import { createRedactor } from "../../core/redaction/redaction.ts";
import type { TrustListing, TrustPort } from "../../server/api/deps.ts";
import { clock } from "../clock.ts";
import type { PortOptions } from "./serve-ports.ts";

const redactor = createRedactor();

/** The default project includes every directory without one; here it is where the server was started, or nowhere. */
export function directoryOf({ cwd, configuration }: PortOptions, project: string): string | undefined {
  if (project === configuration.project.id) return cwd;
  return project === "default" ? undefined : project;
}

export function trustPort(options: PortOptions): TrustPort {
  const { configuration, shell, trust = recordedTrust(options.configuration.home) } = options;
  const book = new TrustBook(configuration.home);
  const itemsOf = async (project: string): Promise<readonly TrustItem[]> => {
    const cwd = directoryOf(options, project);
    if (cwd === undefined) return [];
    const loaded = await loadConfiguration({ cwd, environment: shell, flags: {}, trust: ASSUMED_TRUST });
    return loaded.trust.map(({ item }) => item);
  };
  const itemToWire = (item: TrustItem): TrustListing => trustToWire(item, book.find(item), trust.isTrusted(item));
  return {
    async list(project) {
      const items = await itemsOf(project);
      const gone = book.list().filter((record) => record.root === project && isGone(record, items));
      return [...items.map(itemToWire), ...gone.map(goneTrustToWire)];
    },
    async add(project, hash, by) {
      const item = (await itemsOf(project)).find((one) => one.hash === hash);
      if (item === undefined) return undefined;
      book.add(item, by, new Date(clock.now()));
      return itemToWire(item);
    },
    async remove(project, hash) {
      const record = book.list().find((one) => one.hash === hash && one.root === project);
      return record !== undefined && book.remove(record);
    },
  };
}

/** Only these belong to the project itself; agent files and suites are named by the person who starts them. */
const OF_PROJECTS: readonly string[] = ["settings", "variables"];

function isGone({ kind, path }: TrustRecord, items: readonly TrustItem[]): boolean {
  return OF_PROJECTS.includes(kind) && !items.some((item) => item.kind === kind && item.path === path);
}

/** A trusted file that no longer exists: its restrictions still apply. */
function goneTrustToWire(record: TrustRecord): TrustListing {
  const { kind, path, hash, root } = record;
  const nothing: TrustItem = { kind, root, path, hash, files: [], widens: [] };
  return { ...trustToWire(nothing, record, false), missing: true };
}

function trustToWire(item: TrustItem, before: TrustRecord | undefined, isTrusted: boolean): TrustListing {
  const { kind, path, hash, widens } = item;
  const changes = changesSince(before, item);
  return {
    kind,
    path,
    hash,
    trusted: isTrusted,
    widens: widens.map((one) => {
      const { field, value, isRequired } = one;
      // The fallback value applies only until the file is trusted.
      return { field, text: wideningText(isTrusted ? { field, value, isRequired } : one), required: isRequired };
    }),
    diff: changes === undefined ? null : redactor.text(changes),
    trusted_hash: before?.hash ?? null,
    missing: false,
    trusted_at: before?.trusted_at ?? null,
    trusted_by: before?.by ?? null,
  };
}
