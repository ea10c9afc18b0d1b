import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ofType, testHost } from "../../support/host.ts";
import { apiError, type Fault, type Reply, say, text, toolUse } from "../../support/scripted-model.ts";
import type { Desks } from "./desks.ts";
import { callsIn, type Stage, steps } from "./stage.ts";

interface FaultCase {
  readonly name: string;
  readonly answer: Fault | Reply;
  readonly code: string;
  /** Model requests before the turn gives up, at the most; the host is set to one retry. */
  readonly requests: number;
  readonly says?: RegExp;
}

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg==";
const EVENT_STREAM = { "content-type": "text/event-stream" };

const FAULTS: readonly FaultCase[] = [
  { name: "400", answer: apiError(400, "invalid_request_error", "bad request"), code: "model_failed", requests: 4 },
  // It was good for the message before, and nobody gives another one.
  { name: "401", answer: apiError(401, "authentication_error", "bad key"), code: "credential_expired", requests: 1 },
  {
    name: "403",
    answer: apiError(403, "permission_error", "not allowed"),
    code: "credential_rejected",
    requests: 1,
    says: /not allowed/,
  },
  { name: "404", answer: apiError(404, "not_found_error", "model: no-such"), code: "model_unknown", requests: 2 },
  { name: "429", answer: apiError(429, "rate_limit_error", "slow down"), code: "model_failed", requests: 2 },
  { name: "500", answer: apiError(500, "api_error", "oops"), code: "model_failed", requests: 2 },
  { name: "529", answer: apiError(529, "overloaded_error", "overloaded"), code: "model_failed", requests: 3 },
  {
    name: "a stream of garbage",
    answer: { status: 200, headers: EVENT_STREAM, body: "what is this?" },
    code: "model_failed",
    requests: 6,
  },
  {
    name: "a stream whose frames are no JSON",
    answer: { status: 200, headers: EVENT_STREAM, body: 'event: message_start\ndata: {"type": "mess\n\n' },
    code: "model_failed",
    requests: 6,
  },
  {
    name: "a connection cut before the stream",
    answer: say("cut", { dropAfter: 0 }),
    code: "model_failed",
    requests: 6,
  },
  { name: "a stream that is always cut", answer: say("cut", { dropAfter: 3 }), code: "model_failed", requests: 6 },
];

/** Whatever the model API does, the turn ends with a reason and the session continues. */
export function faults(stage: Stage, { worker: shared }: Desks): void {
  describe("a model API that answers with", () => {
    test.for(FAULTS)("$name ends the turn with a reason, and the session continues", async (fault) => {
      const { name, answer, code, requests: most, says = /[.!]/ } = fault;
      const { t, session, events, requests } = await shared(() => answer);
      const failed = session.send(`Do it: ${name}.`).result();
      await expect(failed).rejects.toMatchObject({ code, message: expect.stringMatching(says) as string });
      expect(requests().length).toBeLessThanOrEqual(most);
      const all = await events();
      expect(all.at(-1)).toMatchObject({ type: "session.status_idle", stop_reason: { type: "retries_exhausted" } });
      const errors = ofType(all, "session.error").map(({ error }) => error);
      expect(errors.at(-1)).toMatchObject({ code, retry_status: { type: "exhausted" }, retries: errors.length - 1 });
      expect(ofType(all, "agent.message")).toEqual([]);
      expect(JSON.stringify(all)).not.toContain("sk-ant-test-key");
      t.model.script = () => say("back again");
      expect((await session.send("And now?").result()).text).toBe("back again");
      expect(requests().at(-1)?.transcript).toContain(`Do it: ${name}.`);
    });

    test("a failure once is asked again, and the log says so while it is", async () => {
      const { session, events, requests } = await shared(steps(apiError(500, "api_error", "oops"), say("fine")));
      expect((await session.send("Hello.").result()).text).toBe("fine");
      expect(ofType(await events(), "session.error")).toMatchObject([
        { error: { retry_status: { type: "retrying" }, http_status: 500 } },
      ]);
      expect(requests()).toHaveLength(2);
    });

    test("429 and a time to wait is asked again after that time", async () => {
      const { session, requests } = await shared(
        steps(apiError(429, "rate_limit_error", "slow down", { "retry-after": "1" }), say("fine")),
      );
      expect((await session.send("Hello.").result()).text).toBe("fine");
      const [first, second] = requests();
      expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
    });

    test("a refusal, and again, ends the turn as one", async () => {
      const { session, events, requests } = await shared(() => say("I will not.", { stopReason: "refusal" }));
      expect((await session.send("Do it.").result()).stopReason).toEqual({ type: "refusal" });
      expect(ofType(await events(), "session.status_idle")).toMatchObject([{ stop_reason: { type: "refusal" } }]);
      expect(requests().length).toBeLessThanOrEqual(3);
    });

    test("nothing at all ends the turn, and the next message is answered", async () => {
      const { t, session, events, requests } = await shared(() => ({ blocks: [] }));
      await session
        .send("Say nothing.")
        .result()
        .catch((thrown: unknown) => expect(thrown).toMatchObject({ code: "model_failed" }));
      expect(requests().length).toBeLessThanOrEqual(6);
      expect((await events()).at(-1)?.type).toBe("session.status_idle");
      t.model.script = () => say("back again");
      expect((await session.send("And now?").result()).text).toBe("back again");
    });

    test("an answer that is cut off within a call by its length does not run the call", async () => {
      const cut = { ...toolUse("Bash", { command: "touch ran" }), json: '{"command": "touch ran' };
      const { t, session, events, requests } = await shared(
        steps({ blocks: [text("Writing."), cut], stopReason: "max_tokens" }, say("I will be brief.")),
      );
      await session
        .send("Write much.")
        .result()
        .catch((thrown: unknown) => expect(thrown).toMatchObject({ code: "model_failed" }));
      expect(existsSync(join(t.cwd, "ran"))).toBe(false);
      const uses = ofType(await events(), "agent.tool_use").map(({ id }) => id);
      expect(ofType(await events(), "agent.tool_result").map(({ tool_use_id: id }) => id)).toEqual(uses);
      t.model.script = () => say("back again");
      expect((await session.send("And now?").result()).text).toBe("back again");
      // No call without a result: the API would refuse the conversation from then on.
      const { calls, results } = callsIn(requests().at(-1));
      expect(results.map(({ id }) => id).toSorted()).toEqual(calls.map(({ id }) => id).toSorted());
    });
  });

  test("a picture that the API refuses does not fail the messages after it", async () => {
    const { t, session, requests } = await shared(() => say("not yet"));
    const path = join(t.cwd, "refused.png");
    writeFileSync(path, Buffer.from(PNG, "base64"));
    const next = steps({ blocks: [toolUse("Read", { file_path: path })] });
    t.model.script = (request) =>
      JSON.stringify(request.body.messages).includes('"type":"image"')
        ? apiError(
            400,
            "invalid_request_error",
            "messages.0.content.0.image.source.base64.data: Could not process image",
          )
        : next(request);
    await session
      .send("Look at it.")
      .result()
      .catch((thrown: unknown) => expect(thrown).toMatchObject({ code: "model_failed" }));
    t.model.script = (request) =>
      JSON.stringify(request.body.messages).includes('"type":"image"')
        ? apiError(400, "invalid_request_error", "Could not process image")
        : say("back again");
    expect((await session.send("And now?").result()).text).toBe("back again");
    expect(requests().at(-1)?.transcript).toContain("Look at it.");
  });

  test("a first message that is too large for the API is not sent twice, and an API that stalls is asked again", async () => {
    const answers = steps(
      apiError(413, "request_too_large", "too large"),
      say("stalls", { stallAfter: 3 }),
      say("back again"),
    );
    await using t = await testHost(answers, { upstreamIdleMs: 300 });
    const session = await t.host.startSession({ agent: stage.agent(), cwd: t.cwd });
    await expect(session.send("Do it.").result()).rejects.toMatchObject({ code: "model_failed" });
    expect(t.model.requests).toHaveLength(1);
    expect((await session.send("Do less.").result()).text).toBe("back again");
    const said = ofType(await t.host.read(session.id), "agent.message");
    expect(said).toMatchObject([{ content: [{ text: "back again" }] }]);
  });
}
