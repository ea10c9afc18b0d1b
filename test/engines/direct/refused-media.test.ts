import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agent, ofType } from "../../support/host.ts";
import { apiError, call, type ModelRequest, say, toolUse } from "../../support/scripted-model.ts";
import { directHost } from "./direct-host.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg==",
  "base64",
);
const picture = (tail: string): Buffer => Buffer.concat([PNG, Buffer.from(tail)]);
const has = ({ body }: ModelRequest, content: Buffer): boolean =>
  JSON.stringify(body.messages).includes(content.toString("base64"));
const refusal = (message: string) => apiError(400, "invalid_request_error", message);

test("a picture that the API refuses is left out, the model is told, and the session continues", async () => {
  const [bad, good] = [picture("bad"), picture("good")];
  await using t = await directHost((request) => {
    if (has(request, bad)) return refusal("Could not process image");
    if (request.last.includes("Read good")) return call("Read", { file_path: join(t.cwd, "good.png") });
    return request.last.includes("Read bad") && request.toolResults.length === 0
      ? call("Read", { file_path: join(t.cwd, "bad.png") })
      : say("ok");
  });
  writeFileSync(join(t.cwd, "bad.png"), bad);
  writeFileSync(join(t.cwd, "good.png"), good);
  const reading = agent({ tools: ["Read"] });
  await using session = await t.host.startSession({ agent: reading, cwd: t.cwd });
  expect((await session.send("Read good.").result()).text).toBe("ok");
  expect((await session.send("Read bad.").result()).text).toBe("ok");
  const last = t.model.requests.at(-1);
  expect(last?.toolResults[0]?.text).toContain("the model API refused this image. It said: Could not process image");
  // What was taken before is no part of the refusal.
  expect(last !== undefined && has(last, good)).toBe(true);
  const asked = t.model.requests.length;
  expect((await session.send("And now?").result()).text).toBe("ok");
  expect(t.model.requests).toHaveLength(asked + 1);
  const errors = ofType(await t.host.read(session.id), "session.error").map(({ error }) => error);
  expect(errors).toMatchObject([{ retry_status: { type: "retrying" }, http_status: 400 }]);
  await session.hibernate();
  expect((await session.send("And after a rest?").result()).text).toBe("ok");
});

test("the one that the API names is left out, and no other", async () => {
  const [bad, good] = [picture("bad"), picture("good")];
  await using t = await directHost((request) => {
    if (has(request, bad))
      return refusal("messages.2.content.1.tool_result.content.0.image.source.base64.data: Image does not match png");
    return request.toolResults.length > 0
      ? say("ok")
      : {
          blocks: ["good", "bad"].map((name) => toolUse("Read", { file_path: join(t.cwd, `${name}.png`) })),
        };
  });
  writeFileSync(join(t.cwd, "bad.png"), bad);
  writeFileSync(join(t.cwd, "good.png"), good);
  await using session = await t.host.startSession({ agent: agent({ tools: ["Read"] }), cwd: t.cwd });
  expect((await session.send("Read both.").result()).text).toBe("ok");
  const last = t.model.requests.at(-1);
  expect(last !== undefined && has(last, good)).toBe(true);
});

test("a refusal that stays when there is nothing left to leave out ends the turn", async () => {
  const bad = picture("bad");
  await using t = await directHost((request) =>
    request.toolResults.length === 0 && !request.last.includes("Speak")
      ? call("Read", { file_path: join(t.cwd, "bad.png") })
      : request.last.includes("Speak")
        ? say("ok")
        : refusal("Could not process image"),
  );
  writeFileSync(join(t.cwd, "bad.png"), bad);
  await using session = await t.host.startSession({ agent: agent({ tools: ["Read"] }), cwd: t.cwd });
  await expect(session.send("Read it.").result()).rejects.toMatchObject({ code: "model_failed" });
  expect(t.model.requests).toHaveLength(3);
  expect((await session.send("Speak.").result()).text).toBe("ok");
});
