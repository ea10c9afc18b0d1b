import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { Attachments } from "../../src/cli/chat/attachments.ts";
import { Editor, type Pressed } from "../../src/cli/chat/editor/editor.ts";
import { editorLines } from "../../src/cli/chat/editor/editor-view.ts";
import { History } from "../../src/cli/chat/editor/history.ts";
import { rowsOf } from "../../src/cli/chat/view/rows.ts";
import type { Key } from "../../src/cli/chat/editor/key.ts";

const place = mkdtempSync(join(tmpdir(), "chat-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));

const key = (name: string, more: Partial<Key> = {}): Key => ({ name, ctrl: false, meta: false, text: "", ...more });
const earlier = (...texts: string[]): { at(index: number): string | undefined } => ({
  at: (index) => texts.at(-1 - index),
});

function typeText(editor: Editor, text: string): void {
  for (const letter of text) editor.press({ ctrl: false, meta: false, text: letter });
}

function pasteText(editor: Editor, text: string): Pressed {
  editor.press(key("paste-start"));
  for (const letter of text)
    editor.press({ ctrl: false, meta: false, text: letter, ...(letter === "\r" && { name: "return" }) });
  return editor.press(key("paste-end"));
}

test("letters are put where the cursor is, and taken away as a person counts them", () => {
  const editor = new Editor(earlier());
  typeText(editor, "tea 日👩‍👩‍👧!");
  for (const name of ["left", "backspace", "backspace"]) editor.press(key(name));
  expect(editor.text).toBe("tea !");
  editor.press(key("home"));
  typeText(editor, "a ");
  editor.press(key("e", { ctrl: true }));
  editor.press(key("w", { ctrl: true }));
  expect(editor.text).toBe("a tea ");
  editor.press(key("left", { ctrl: true }));
  editor.press(key("k", { ctrl: true }));
  expect([editor.text, editor.cursor]).toEqual(["a ", 2]);
  editor.press(key("u", { ctrl: true }));
  expect(editor.text).toBe("");
});

test("Enter sends; with Alt, or after a backslash, it is a new line", () => {
  const editor = new Editor(earlier());
  typeText(editor, "one");
  expect(editor.press(key("return", { meta: true }))).toBe("edited");
  typeText(editor, "two\\");
  expect(editor.press(key("return"))).toBe("edited");
  typeText(editor, "three");
  expect(editor.press(key("return"))).toBe("submitted");
  expect(editor.text).toBe("one\ntwo\nthree");
});

test("a paste is text whatever is in it: its Enters send nothing, its escape codes are gone", () => {
  const editor = new Editor(earlier());
  expect(pasteText(editor, "a\r\nb\u001B[31m\rc\td")).toBe("edited");
  expect(editor.text).toBe("a\nb[31m\nc\td");
  expect(editor.press(key("return"))).toBe("submitted");
});

test("up and down lead through what was written before, and back to what was being written", () => {
  const editor = new Editor(earlier("older", "first\nsecond"));
  typeText(editor, "new");
  editor.press(key("up"));
  expect(editor.text).toBe("first\nsecond");
  editor.press(key("up"));
  expect(editor.text).toBe("first\nsecond");
  editor.press(key("up"));
  expect(editor.text).toBe("older");
  expect(editor.press(key("up"))).toBe("ignored");
  editor.press(key("down"));
  editor.press(key("down"));
  expect(editor.text).toBe("new");
});

test.each([
  ["a long message of words", ["a long ", "message ", "of words"]],
  ["  two  spaces", ["  two  ", "spaces"]],
  ["no-break-anywhere", ["no-break-", "anywhere"]],
  ["one\n\nthree", ["one", "", "three"]],
  ["", [""]],
])("%j in rows of nine columns keeps every space", (text, expected) => {
  expect(rowsOf(text, 9).map(({ start, end }) => text.slice(start, end))).toEqual(expected);
});

const lines = (text: string, cursor: number, width = 12, height = 10): unknown =>
  editorLines({ text, cursor }, { width, height });

test("the input is broken between words, a long one at the edge, with the cursor where the next letter will be", () => {
  expect(lines("hello world\nab", 14)).toEqual({ lines: ["> hello ", "  world", "  ab"], row: 2, column: 4 });
  expect(lines("hello world", 6)).toMatchObject({ row: 1, column: 2 });
  expect(lines("0123456789 x", 10)).toEqual({ lines: ["> 0123456789", "  x"], row: 1, column: 2 });
  expect(lines("0123456789\nx", 10)).toMatchObject({ lines: ["> 0123456789", "  x"], row: 0 });
  expect(lines("a\tb", 3)).toEqual({ lines: ["> a  b"], row: 0, column: 6 });
  expect(lines("0123456789", 10)).toEqual({ lines: ["> 0123456789", "  "], row: 1, column: 2 });
  expect(lines("日本語日本語", 6)).toEqual({ lines: ["> 日本語日本", "  語"], row: 1, column: 4 });
  expect(lines("a\nb\nc\nd\ne", 0, 12, 3)).toMatchObject({ lines: ["> a", "  b", "  c"], row: 0 });
  expect(lines("a\nb\nc\nd\ne", 9, 12, 3)).toMatchObject({ lines: ["  c", "  d", "  e"], row: 2 });
});

test("history is kept for each project, for its owner alone, and survives a line that was cut off", () => {
  const home = join(place, "home");
  const history = new History(home, "/a");
  for (const text of ["one", "two\nlines", "two\nlines", " "]) history.add(text);
  const [name = ""] = readdirSync(join(home, "chat-history"));
  const file = join(home, "chat-history", name);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(file, `${readFileSync(file, "utf8")}"cut o`);
  const again = new History(home, "/a");
  expect([again.at(0), again.at(1), again.at(2)]).toEqual(["two\nlines", "one", undefined]);
  expect(new History(home, "/b").at(0)).toBeUndefined();
});

test("the path of an image that is pasted becomes the image; other text stays text", () => {
  const image = join(place, "my photo.png");
  writeFileSync(image, Buffer.from("89504e470d0a1a0a", "hex"));
  mkdirSync(join(place, "dir.png"), { recursive: true });
  const attachments = new Attachments();
  for (const path of [`'${image}'`, image.replaceAll(" ", String.raw`\ `), `file://${encodeURI(image)}`])
    expect(attachments.replacePaths(`${path} `)).toBe("[image 1: my photo.png] ");
  for (const text of ["photo.png", join(place, "dir.png"), `look at ${image}`, "two\nlines"])
    expect(attachments.replacePaths(text)).toBe(text);
  expect(attachments.content("what is [image 1: my photo.png]?")).toEqual([
    { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
    { type: "text", text: "what is [image 1: my photo.png]?" },
  ]);
  expect(attachments.content("never mind")).toBe("never mind");
});
