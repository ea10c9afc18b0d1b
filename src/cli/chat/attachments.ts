import { statSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { MessageContent } from "../../core/events/content.ts";
import { kindByName } from "../run/file-kinds.ts";
import { attach } from "../run/message.ts";

/** Images whose paths were pasted; terminals paste the paths of dropped files. */
export class Attachments {
  /** By their placeholders in the input. */
  readonly #files = new Map<string, string>();

  /** Replaces pasted image paths with placeholders; returns other text unchanged. */
  readonly replacePaths = (text: string): string => {
    const paths = pathsIn(text.trim()).map((path) => resolve(path));
    if (paths.length === 0 || !paths.every(isImage)) return text;
    return `${paths.map((path) => this.#add(path)).join(" ")} `;
  };

  /** The message for an input, with its images. Throws if an image is invalid. */
  content(text: string): string | MessageContent {
    const files = [...this.#files].flatMap(([word, path]) => (text.includes(word) ? [path] : []));
    return files.length === 0 ? text : [...files.map(attach), { type: "text", text }];
  }

  clear(): void {
    this.#files.clear();
  }

  #add(path: string): string {
    const known = [...this.#files].find(([, file]) => file === path)?.[0];
    const word = known ?? `[image ${this.#files.size + 1}: ${basename(path)}]`;
    this.#files.set(word, path);
    return word;
  }
}

/** Paths as terminals write them: quoted, with escaped spaces, or as file URLs. */
function pathsIn(text: string): string[] {
  if (text === "" || text.length > 4_096 || text.includes("\n")) return [];
  return [...text.matchAll(/'([^']*)'|"([^"]*)"|((?:\\.|[^\s\\])+)/g)].map(([, single, double, bare]) => {
    const path = single ?? double ?? (bare ?? "").replaceAll(/\\(.)/g, "$1");
    try {
      return path.startsWith("file://") ? fileURLToPath(path) : path;
    } catch {
      return path;
    }
  });
}

function isImage(path: string): boolean {
  if (kindByName(extname(path))?.mediaType.startsWith("image/") !== true) return false;
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
