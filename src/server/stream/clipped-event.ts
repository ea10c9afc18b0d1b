import type { LoggedEvent } from "../../core/events/events.ts";
import { isStructure } from "../../core/redaction/redaction.ts";
import type { Show } from "./follower.ts";
import type { ClippedEvent } from "../../protocol/api/session-requests.ts";

/** Besides ids, names and hashes: what programs use as it is, and what would mean another thing when it was cut. */
const KEPT =
  /^(?:rules|remember|server|agent|by|from|path|.+_path|cwd|source|target|url|commit|base|branch|calls|named|real|workspace|home)$/;
/** What a tool or a person gave: its names are theirs, so that none of them tells what it holds. */
const GIVEN: ReadonlySet<string> = new Set(["input", "output", "values", "answers"]);

/** In characters of its base64: less than what a person would call a large image. */
const MOST_OF_IMAGE = 1_500_000;
/** Of all images of one event. */
const MOST_OF_IMAGES = 4 * MOST_OF_IMAGE;
/** In characters, of one event: so many texts of full length, or so much at least. */
const TEXTS = 50;
const LEAST_OF_EVENT = 200_000;
/** Shorter ones stay whole also where nothing more fits: among them are those that have but a few values. */
const SHORT = 200;
/** Even of a name or a path. */
const MOST_OF_KEPT = 50_000;
/** No shape that an event has by itself has more fields: their names are somebody's data. */
const MOST_FIELDS = 100;
/** What a number, a comma or the like counts as. */
const MARKS = 8;

/** The event with texts of at most so many characters, so that a page can show a log that holds whole files. */
export function clippedEvent(event: LoggedEvent, most: number): ClippedEvent {
  const room: Room = { text: Math.max(LEAST_OF_EVENT, TEXTS * most), images: MOST_OF_IMAGES };
  const shown = clipped(event, { most, room, key: "", isGiven: false });
  return shown === event ? event : { ...(shown as LoggedEvent), clipped: true };
}

/** How a follower is shown what happens; without a limit everything is whole. */
export function showClipped(most: number | undefined): Show {
  return (item) => (most === undefined || !("seq" in item) ? item : clippedEvent(item, most));
}

/** What is left for the rest of the event. */
interface Room {
  text: number;
  images: number;
}

interface Place {
  readonly most: number;
  readonly room: Room;
  /** The field that a value stands in. */
  readonly key: string;
  readonly isGiven: boolean;
}

/** The value itself where nothing had to be cut. */
function clipped(value: unknown, place: Place): unknown {
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

function mostOf({ most, room, key, isGiven }: Place): number {
  if (!isGiven && (isStructure(key) || KEPT.test(key))) return MOST_OF_KEPT;
  return Math.max(SHORT, Math.min(most, room.text));
}

/** The first stays in any case: a list may have to have one. */
function clippedList(list: readonly unknown[], place: Place): unknown {
  const items: unknown[] = [];
  for (const item of list) {
    if (items.length > 0 && place.room.text <= 0) break;
    items.push(clipped(item, place));
  }
  if (items.length < list.length && place.isGiven) items.push(`… ${list.length - items.length} more`);
  return items.length === list.length && items.every((item, index) => item === list[index]) ? list : items;
}

function clippedObject(object: object, place: Place): unknown {
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
        clipped(field, { ...place, key: name, isGiven: isGiven || GIVEN.has(name) }));
    const shownName = isGiven ? cut(name, place.most) : name;
    isSame &&= shown === field && shownName === name;
    fields.push([shownName, shown]);
  }
  const left = names.length - fields.length;
  if (left === 0 && isSame) return object;
  if (left > 0 && isGiven) fields.push(["…", `${left} more`]);
  return Object.fromEntries(fields);
}

/** Half an image is none, and half a document that is not text is none either. Undefined for any other field. */
function clippedData(source: object, name: string, { most, room, isGiven }: Place): string | undefined {
  const { type, data, media_type: mediaType } = source as Readonly<Record<string, unknown>>;
  if (name !== "data" || type !== "base64" || typeof data !== "string") return undefined;
  const isImage = !isGiven && typeof mediaType === "string" && mediaType.startsWith("image/");
  if (data.length > (isImage ? Math.min(MOST_OF_IMAGE, room.images) : Math.min(most, room.text))) return "";
  if (isImage) room.images -= data.length;
  else room.text -= data.length;
  return data;
}

/** Never in the middle of a character that is written with two. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(most - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(most));
  return text.slice(0, isHalf ? most - 1 : most);
}
