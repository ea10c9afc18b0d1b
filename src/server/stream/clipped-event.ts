import type { LoggedEvent } from "../../core/events/events.ts";
import { isStructure } from "../../core/redaction/redaction.ts";
import type { Show } from "./follower.ts";
import type { ClippedEvent } from "../../protocol/api/session-requests.ts";

/**
 * Kept whole, like ids, names and hashes: values that programs use as they are, or that would change meaning if cut.
 */
const KEPT =
  /^(?:rules|remember|server|agent|by|from|path|.+_path|cwd|source|target|url|commit|base|branch|calls|named|real|workspace|home)$/;
/** Data from tools and people: its field names are arbitrary and say nothing about the values. */
const GIVEN: ReadonlySet<string> = new Set(["input", "output", "values", "answers"]);

/** In base64 characters: below what a person would call a large image. */
const MOST_OF_IMAGE = 1_500_000;
/** For all images of one event. */
const MOST_OF_IMAGES = 4 * MOST_OF_IMAGE;
/** In characters, for one event: this many texts of full length, but at least the minimum below. */
const TEXTS = 50;
const LEAST_OF_EVENT = 200_000;
/** Shorter texts always stay whole: some of them are enum values. */
const SHORT = 200;
/** Applies even to a name or a path. */
const MOST_OF_KEPT = 50_000;
/** No event type has more fields, so beyond this the names are someone's data. */
const MOST_FIELDS = 100;
/** The size counted for a number, a comma and the like. */
const MARKS = 8;

/** Cuts the texts of an event to `most` characters, so that a page can show a log that contains whole files. */
export function clippedEvent(event: LoggedEvent, most: number): ClippedEvent {
  const room: Room = { text: Math.max(LEAST_OF_EVENT, TEXTS * most), images: MOST_OF_IMAGES };
  const shown = clipValue(event, { most, room, key: "", isGiven: false });
  return shown === event ? event : { ...(shown as LoggedEvent), clipped: true };
}

/** Converts items for a follower; without a limit, nothing is cut. */
export function showClipped(most: number | undefined): Show {
  return (item) => (most === undefined || !("seq" in item) ? item : clippedEvent(item, most));
}

/** The remaining space for the rest of the event. */
interface Room {
  text: number;
  images: number;
}

interface ClipContext {
  readonly most: number;
  readonly room: Room;
  /** The field of the value. */
  readonly key: string;
  readonly isGiven: boolean;
}

/** Returns the same value if nothing was cut. */
function clipValue(value: unknown, place: ClipContext): unknown {
  const { room } = place;
  if (typeof value === "string") {
    const shown = cut(value, mostOf(place));
    room.text -= shown.length;
    return shown;
  }
  room.text -= MARKS;
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value) ? clippedList(value, place) : clippedObject(value, place);
}

function mostOf({ most, room, key, isGiven }: ClipContext): number {
  if (!isGiven && (isStructure(key) || KEPT.test(key))) return MOST_OF_KEPT;
  return Math.max(SHORT, Math.min(most, room.text));
}

/** Always keeps the first item: a list may require one. */
function clippedList(list: readonly unknown[], place: ClipContext): unknown {
  const items: unknown[] = [];
  for (const item of list) {
    if (items.length > 0 && place.room.text <= 0) break;
    items.push(clipValue(item, place));
  }
  if (items.length < list.length && place.isGiven) items.push(`… ${list.length - items.length} more`);
  return items.length === list.length && items.every((item, index) => item === list[index]) ? list : items;
}

function clippedObject(object: object, place: ClipContext): unknown {
  const { room, key, isGiven } = place;
  const isMetadata = key === "metadata" && !isGiven;
  const names = Object.keys(object);
  const isOpen = isGiven || names.length > MOST_FIELDS;
  const fields: [name: string, value: unknown][] = [];
  let isSame = true;
  for (const name of names) {
    if (isOpen && room.text <= 0) break;
    const field: unknown = (object as Record<string, unknown>)[name];
    room.text -= name.length + MARKS;
    const shown = isMetadata
      ? field
      : (clippedData(object, name, place) ??
        clipValue(field, { ...place, key: name, isGiven: isGiven || GIVEN.has(name) }));
    const shownName = isGiven ? cut(name, place.most) : name;
    isSame &&= shown === field && shownName === name;
    fields.push([shownName, shown]);
  }
  const left = names.length - fields.length;
  if (left === 0 && isSame) return object;
  if (left > 0 && isGiven) fields.push(["…", `${left} more`]);
  return Object.fromEntries(fields);
}

/**
 * Cutting an image or a binary document makes it useless, so they are kept or dropped as a whole. Undefined for other
 * fields.
 */
function clippedData(source: object, name: string, { most, room, isGiven }: ClipContext): string | undefined {
  const { type, data, media_type: mediaType } = source as Readonly<Record<string, unknown>>;
  if (name !== "data" || type !== "base64" || typeof data !== "string") return undefined;
  const isImage = !isGiven && typeof mediaType === "string" && mediaType.startsWith("image/");
  if (data.length > (isImage ? Math.min(MOST_OF_IMAGE, room.images) : Math.min(most, room.text))) return "";
  if (isImage) room.images -= data.length;
  else room.text -= data.length;
  return data;
}

/** Never cuts within a surrogate pair. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(most - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(most));
  return text.slice(0, isHalf ? most - 1 : most);
}
