import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testCli } from "../support/cli.ts";
import { say, scriptedModel } from "../support/scripted-model.ts";

/** The beginnings of files, as their formats have them. */
const CONTENT = {
  png: Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"),
  jpeg: Buffer.from("ffd8ffe000104a464946", "hex"),
  gif: Buffer.from("GIF89a\u0001", "latin1"),
  webp: Buffer.from("RIFF\0\0\0\0WEBPVP8 ", "latin1"),
  pdf: Buffer.from("%PDF-1.7\n"),
  text: Buffer.from("Dear model"),
};

const accepted: { name: string; content: keyof typeof CONTENT; type: string }[] = [
  { name: "a.png", content: "png", type: "image/png" },
  { name: "a.JPG", content: "jpeg", type: "image/jpeg" },
  { name: "a.gif", content: "gif", type: "image/gif" },
  { name: "a.webp", content: "webp", type: "image/webp" },
  { name: "a.pdf", content: "pdf", type: "application/pdf" },
];

test("images and PDFs are attached as what they are", async () => {
  await using model = await scriptedModel(() => say("seen"));
  using cli = testCli(model.url);
  for (const { name, content } of accepted) writeFileSync(join(cli.cwd, name), CONTENT[content]);
  const files = accepted.flatMap(({ name }) => ["--file", name]);
  // The agent process would decode the images, which have only beginnings: what counts is what the log has.
  const { stdout } = await cli.run(["run", "--json", ...files, "--", "look"]);
  const [message] = stdout.split("\n").map((line) => JSON.parse(line || "{}") as { content?: unknown });
  expect(message?.content).toMatchObject([
    ...accepted.map(({ type }) => ({ source: { type: "base64", media_type: type } })),
    { type: "text", text: "look" },
  ]);
});

const refused: { name: string; content: keyof typeof CONTENT; says: string }[] = [
  {
    name: "photo.png",
    content: "jpeg",
    says: "its content is a JPEG image, not a PNG image. Change its extension to .jpg.",
  },
  { name: "photo.jpeg", content: "pdf", says: "its content is a PDF, not a JPEG image. Change its extension to .pdf." },
  {
    name: "photo.webp",
    content: "text",
    says: "its content is not a WebP image. Convert it, or correct its extension.",
  },
  { name: "paper.pdf", content: "text", says: "its content is not a PDF. Convert it, or correct its extension." },
];
test.for(refused)("$name with other content is refused before a session is made", async ({ name, content, says }) => {
  using cli = testCli();
  writeFileSync(join(cli.cwd, name), CONTENT[content]);
  const { code, stderr } = await cli.run(["run", "--rehearsal", "look", "--file", name]);
  expect(stderr).toBe(`capstan: Cannot attach ${name}: ${says}\n`);
  expect(code).toBe(2);
  expect((await cli.run(["sessions", "list", "--json"])).stdout).toBe("");
});

test("a file without a prompt is no message", async () => {
  using cli = testCli();
  writeFileSync(join(cli.cwd, "notes.txt"), "Buy milk.");
  const { code, stderr } = await cli.run(["run", "--rehearsal", "-f", "notes.txt"]);
  expect(stderr).toBe(
    'capstan: The prompt is missing. Say what to do with notes.txt. Example: capstan run --file notes.txt "summarize this"\n',
  );
  expect(code).toBe(2);
});

test("text with U+FFFD in it is text, piped or attached", async () => {
  await using model = await scriptedModel(() => say("seen"));
  using cli = testCli(model.url);
  writeFileSync(join(cli.cwd, "notes.txt"), "attached \uFFFD");
  const { code, stderr } = await cli.run(["run", "-f", "notes.txt"], { input: "piped \uFFFD" });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(model.requests.at(-1)?.last).toContain("piped \uFFFD");
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain("attached \uFFFD");
});
