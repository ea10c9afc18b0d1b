import { rm } from "node:fs/promises";
import { join } from "node:path";
import { NO_USD_LIMIT } from "../../core/money/budget-schema.ts";
import { CapstanError } from "../../core/errors.ts";
import type { EventDraft } from "../../core/events/events.ts";
import type { Metadata } from "../../core/ports/registry.ts";
import type { SessionRecord, SessionResource } from "../../core/ports/store.ts";
import type { GivenContent } from "../../core/ports/workspace.ts";
import { holdLease } from "../log/lease.ts";
import type { RuntimeDeps } from "../open-sessions.ts";
import { type FilesDeps, RestingSessions } from "./resting-sessions.ts";
import { SessionLocks } from "../log/session-locks.ts";
import type { GivenFile, GivenRepository, SessionUpdate } from "../session-options.ts";
import { workspaceLocation } from "../paths/session-location.ts";

type KeptDeps = FilesDeps & Pick<RuntimeDeps, "stateRoot">;

/** Operations on a whole session, whether or not a host drives it. */
export class KeptSessions {
  readonly #deps: KeptDeps;
  readonly #resting: RestingSessions;
  /** Each change reads the record first, so changes run one at a time. */
  readonly #inOrder = new SessionLocks();

  constructor(deps: KeptDeps) {
    this.#deps = deps;
    this.#resting = new RestingSessions(deps);
  }

  async update(sessionId: string, { title, metadata, maxUsd }: SessionUpdate): Promise<SessionRecord> {
    await this.#requireOpen(sessionId);
    if (title === undefined && metadata === undefined && maxUsd === undefined) return this.#resting.require(sessionId);
    await this.#inOrder.run(sessionId, async () => {
      const record = await this.#requireOpen(sessionId);
      const change = {
        ...(title !== undefined && { title }),
        ...(metadata !== undefined && { metadata: patchMetadata(record.metadata, metadata) }),
      };
      const drafts: EventDraft[] = [
        { type: "session.updated", ...change, ...(maxUsd !== undefined && { budget: budgetOf(maxUsd) }) },
        ...(maxUsd === undefined
          ? []
          : [{ type: "capstan.budget_changed", budget: { usd: maxUsd ?? NO_USD_LIMIT } } as const]),
      ];
      await this.#resting.write(sessionId, (log) => log.append(drafts, { change }));
    });
    return this.#resting.require(sessionId);
  }

  /** Does nothing if the session is already archived. */
  async archive(sessionId: string): Promise<SessionRecord> {
    const { archivedAt } = await this.#resting.require(sessionId);
    if (archivedAt === null)
      await this.#resting.write(sessionId, (log) =>
        log.append([{ type: "capstan.session_archived" }], { change: { archivedAt: this.#deps.clock.now() } }),
      );
    return this.#resting.require(sessionId);
  }

  /** Also deletes the session's own workspace with all changes in it. No host may be driving the session. */
  async delete(sessionId: string): Promise<void> {
    const record = await this.#resting.require(sessionId);
    const { store, owner, isGone, workspaces, stateRoot, locks } = this.#deps;
    await locks.run(sessionId, async () => {
      const held = await holdLease(store.leases, { sessionId, owner, isGone });
      try {
        // Before the session record: otherwise a workspace that could not be removed would be forgotten.
        await workspaces.remove(workspaceLocation(record));
        await store.deleteSession(sessionId, held.lease.fence);
      } finally {
        await held.release();
      }
    });
    await rm(join(stateRoot, sessionId), { recursive: true, force: true });
  }

  async addFile(sessionId: string, { fileId, path, mountPath }: GivenFile): Promise<SessionResource> {
    await this.#requireOpen(sessionId);
    return this.#resting.use(sessionId, "export", async ({ record, log }) => {
      const { workspaces, ids, clock, store } = this.#deps;
      await workspaces.put(workspaceLocation(record), { kind: "file", path, at: mountPath });
      const resource = { id: ids.next("sesrsc"), type: "file", fileId, mountPath, createdAt: clock.now() } as const;
      const { resources } = (await store.session(sessionId)) ?? record;
      await log.append([resourceAddedEvent(resource)], { change: { resources: [...resources, resource] } });
      return resource;
    });
  }

  async #requireOpen(sessionId: string): Promise<SessionRecord> {
    const record = await this.#resting.require(sessionId);
    requireNotArchived(record);
    return record;
  }
}

export function requireNotArchived({ id, archivedAt }: SessionRecord): void {
  if (archivedAt === null) return;
  throw new CapstanError(
    "session_archived",
    `Session ${id} was archived at ${new Date(archivedAt).toISOString()} and is read-only. Start a new session, or fork this one.`,
  );
}

/** A resource to put into a workspace, and its entry in the record. */
export interface PlannedResource {
  readonly content: GivenContent;
  readonly resource: SessionResource;
}

export function plannedResources(
  { files = [], repositories = [] }: { files?: readonly GivenFile[]; repositories?: readonly GivenRepository[] },
  { ids, clock }: Pick<RuntimeDeps, "ids" | "clock">,
): readonly PlannedResource[] {
  const common = (mountPath: string): Pick<SessionResource, "id" | "mountPath" | "createdAt"> => ({
    id: ids.next("sesrsc"),
    mountPath,
    createdAt: clock.now(),
  });
  return [
    ...repositories.map(({ url, token, checkout, mountPath }): PlannedResource => ({
      content: { kind: "repository", url, token, ref: refOf(checkout), at: mountPath },
      resource: { ...common(mountPath), type: "repository", url, checkout },
    })),
    ...files.map(({ fileId, path, mountPath }): PlannedResource => ({
      content: { kind: "file", path, at: mountPath },
      resource: { ...common(mountPath), type: "file", fileId },
    })),
  ];
}

export function resourceAddedEvent(resource: SessionResource): EventDraft<"capstan.resource_added"> {
  const { id: resource_id, mountPath: mount_path } = resource;
  return resource.type === "file"
    ? { type: "capstan.resource_added", resource_id, mount_path, file_id: resource.fileId }
    : { type: "capstan.resource_added", resource_id, mount_path, url: resource.url };
}

function refOf(checkout: GivenRepository["checkout"]): string | undefined {
  if (checkout === null) return undefined;
  return checkout.type === "branch" ? checkout.name : checkout.sha;
}

function patchMetadata(metadata: Metadata, change: Readonly<Record<string, string | null>>): Metadata {
  const kept = Object.entries({ ...metadata, ...change }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  return Object.fromEntries(kept);
}

/** Rounds to whole cents, as the API does. */
function budgetOf(usd: number | null) {
  if (usd === null) return null;
  return { type: "limit", max_list_cost: { amount: String(Math.round(usd * 100)), currency: "USD" } } as const;
}
