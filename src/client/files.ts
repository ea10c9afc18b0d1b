import type { List } from "../protocol/api/common.ts";
import type {
  RewindInput,
  WireApplied,
  WireBranch,
  WireCheckpoint,
  WireDiff,
  WireFileList,
  WireRewind,
} from "../protocol/api/files.ts";
import { type Http, path } from "./http.ts";

interface Range {
  /** `start`, `turn` or a checkpoint. */
  readonly from?: string;
  readonly to?: string;
}

/** The files of sessions. */
export class FilesClient {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists one directory of the workspace. */
  list(sessionId: string, directory = "."): Promise<WireFileList> {
    return this.#http.json("GET", path`/api/sessions/${sessionId}/files`, { query: { path: directory } });
  }

  async read(sessionId: string, file: string): Promise<Uint8Array> {
    return bytes(
      await this.#http.send("GET", path`/api/sessions/${sessionId}/files/content`, { query: { path: file } }),
    );
  }

  async checkpoints(sessionId: string): Promise<WireCheckpoint[]> {
    return (await this.#http.json<List<WireCheckpoint>>("GET", path`/api/sessions/${sessionId}/checkpoints`)).data;
  }

  diff(sessionId: string, { from, to, byCall }: Range & { readonly byCall?: boolean } = {}): Promise<WireDiff> {
    return this.#http.json("GET", path`/api/sessions/${sessionId}/diff`, { query: { from, to, by_call: byCall } });
  }

  /** `path`: only changes in this file. */
  async patch(
    sessionId: string,
    { from, to, path: file }: Range & { readonly path?: string | undefined } = {},
  ): Promise<Uint8Array> {
    const query = { from, to, path: file };
    return bytes(await this.#http.send("GET", path`/api/sessions/${sessionId}/patch`, { query }));
  }

  rewind(sessionId: string, input: RewindInput): Promise<WireRewind> {
    return this.#http.json("POST", path`/api/sessions/${sessionId}/rewind`, { body: input });
  }

  undoRewind(sessionId: string, { overwrite }: { readonly overwrite?: boolean } = {}): Promise<WireRewind> {
    return this.#http.json("POST", path`/api/sessions/${sessionId}/rewind/undo`, { query: { overwrite } });
  }

  /** Writes the changes to the workspace's source on the server's machine. */
  apply(sessionId: string, { dryRun = false }: { readonly dryRun?: boolean } = {}): Promise<WireApplied> {
    return this.#http.json("POST", path`/api/sessions/${sessionId}/apply`, { body: { dry_run: dryRun } });
  }

  async exportPatch(sessionId: string): Promise<Uint8Array> {
    return bytes(await this.#http.send("POST", path`/api/sessions/${sessionId}/export/patch`));
  }

  async exportZip(sessionId: string): Promise<ReadableStream<Uint8Array>> {
    const { body } = await this.#http.send("POST", path`/api/sessions/${sessionId}/export/zip`);
    return body ?? new ReadableStream({ start: (controller) => controller.close() });
  }

  exportBranch(
    sessionId: string,
    input: { readonly branch?: string | undefined; readonly message?: string | undefined } = {},
  ): Promise<WireBranch> {
    return this.#http.json("POST", path`/api/sessions/${sessionId}/export/branch`, { body: input });
  }
}

async function bytes(response: Response): Promise<Uint8Array> {
  return new Uint8Array(await response.arrayBuffer());
}
