import { createHash, randomBytes } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { z } from "zod";
import { isInside } from "../../core/paths/is-inside.ts";

const record = z.strictObject({
  version: z.literal(1),
  /** Where sessions were started: the root of a project, or a directory without one. */
  directory: z.string(),
  /** The project of the sessions there. */
  project: z.string(),
  /** Its spend counts together with this project's. */
  counts_with: z.string(),
});

type KnownProject = z.infer<typeof record>;

const DEFAULT = "default";

/**
 * Where sessions were started, saved in Capstan's home: an agent can remove or create a `.capstan`, and so choose the
 * project of the next session. This must not reset what budgets count. One small file for each directory.
 */
export class KnownProjects {
  readonly #home: string;
  readonly #directory: string;
  #listed: { readonly at: number; readonly places: readonly KnownProject[] } | undefined;

  constructor(home: string) {
    this.#home = home;
    this.#directory = join(home, "projects");
  }

  /** Whether the directory was a project when a session was started there, or a person said that it is one. */
  isProject(directory: string): boolean {
    return this.#at(directory)?.project === directory;
  }

  /**
   * Call this before a session is started. An unknown project counts with its parent until a person trusts something in
   * it; `isOld` says whether it had sessions before projects were counted.
   */
  note(project: string, source: string, isOld: () => Promise<boolean>): Promise<void> | undefined {
    const directory = project === DEFAULT ? realPath(source) : project;
    if (!isAbsolute(directory) || isInside(directory, realPath(this.#home)) || this.#at(directory)?.project === project)
      return undefined;
    return this.#noteNew({ directory, project }, isOld);
  }

  async #noteNew(
    { directory, project }: Pick<KnownProject, "directory" | "project">,
    isOld: () => Promise<boolean>,
  ): Promise<void> {
    const around = project === DEFAULT || (await isOld()) ? undefined : this.#around(directory);
    // A project created where sessions had none keeps their count.
    this.#put({ version: 1, directory, project, counts_with: around?.counts_with ?? project });
  }

  /** A person confirmed the project: from now on its spend is counted separately. */
  vouch(root: string): void {
    const isMarked = lstatSync(join(root, ".capstan"), { throwIfNoEntry: false })?.isDirectory() === true;
    const known = this.#at(root);
    if (!isMarked || (known?.project === root && known.counts_with === root)) return;
    this.#put({ version: 1, directory: root, project: root, counts_with: root });
  }

  /** For a directory that is no longer a project. */
  forget(directory: string): boolean {
    const isThere = this.#at(directory) !== undefined;
    rmSync(this.#file(directory), { force: true });
    return isThere;
  }

  /** The projects whose spend counts together with this one's, including itself. */
  countedWith(project: string): readonly string[] {
    const places = this.#list();
    const account = places.find((place) => place.project === project)?.counts_with ?? project;
    const members = places.filter((place) => place.counts_with === account).map((place) => place.project);
    return [...new Set([project, account, ...members])];
  }

  #around(directory: string): KnownProject | undefined {
    for (let place = directory; ; place = dirname(place)) {
      const known = this.#at(place);
      if (known !== undefined || place === dirname(place)) return known;
    }
  }

  #at(directory: string): KnownProject | undefined {
    const found = read(this.#file(directory));
    return found?.directory === directory ? found : undefined;
  }

  /** The directory's mtime changes with every file that is added. */
  #list(): readonly KnownProject[] {
    const at = lstatSync(this.#directory, { throwIfNoEntry: false })?.mtimeMs;
    if (at === undefined) return [];
    if (this.#listed?.at !== at) {
      const names = readdirSync(this.#directory).filter((name) => name.endsWith(".json"));
      this.#listed = { at, places: names.flatMap((name) => read(join(this.#directory, name)) ?? []) };
    }
    return this.#listed.places;
  }

  #file(directory: string): string {
    return join(this.#directory, `${createHash("sha256").update(directory).digest("hex").slice(0, 32)}.json`);
  }

  /** Atomic. */
  #put(place: KnownProject): void {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const file = this.#file(place.directory);
    const unfinished = `${file}.${randomBytes(6).toString("hex")}.tmp`;
    writeFileSync(unfinished, `${JSON.stringify(place)}\n`, { mode: 0o600, flag: "wx" });
    renameSync(unfinished, file);
  }
}

function read(file: string): KnownProject | undefined {
  try {
    return record.safeParse(JSON.parse(readFileSync(file, "utf8"))).data;
  } catch {
    return undefined;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
