import type { RecordedAnswer } from "../../core/suite/cassette.ts";
import { CapstanError } from "../../core/errors.ts";
import type { Drift, Ignored, Tape, TapeOptions, Tapes } from "../../core/ports/tape.ts";
import type { RequestOrigin, Upstream, UpstreamFor, UpstreamRequest, UpstreamResponse } from "../upstreams/upstream.ts";
import { plainAnswer, refusal, respond, silence } from "./answer-parts.ts";
import { type RequestFingerprint, askedBy } from "./request-fingerprint.ts";
import { Faults, faulty } from "./faults.ts";
import { mapTexts, type Placeholders, placeholdersOf } from "./placeholders.ts";
import { Player } from "./player.ts";
import { Recorder } from "./recorder.ts";
import { recordResponse } from "./recording.ts";

/** All tapes of a host, and the model as its sessions see it through them. */
export class GatewayTapes implements Tapes {
  readonly #tapes = new Map<string, SessionTape>();

  insert(sessionId: string, options: TapeOptions): Tape {
    if (this.#tapes.has(sessionId))
      throw new CapstanError("invalid_input", `The session ${sessionId} already has a tape.`);
    const tape = new SessionTape(options, () => this.#tapes.delete(sessionId));
    this.#tapes.set(sessionId, tape);
    return tape;
  }

  /** Tapes in front of a model. */
  before(inner: Upstream | UpstreamFor): UpstreamFor {
    const made = new WeakMap<Upstream, Upstream>();
    return async (provider) => {
      const upstream = typeof inner === "function" ? await inner(provider) : inner;
      const taped: Upstream = made.get(upstream) ?? {
        billing: upstream.billing,
        ...(upstream.isPlain !== undefined && { isPlain: upstream.isPlain }),
        ...(upstream.remedy !== undefined && { remedy: upstream.remedy }),
        ...(upstream.waitForRenewal !== undefined && { waitForRenewal: upstream.waitForRenewal.bind(upstream) }),
        send: (request) => this.#sendThroughTape(request, upstream) ?? upstream.send(request),
      };
      made.set(upstream, taped);
      return taped;
    };
  }

  /** Tapes without a model: requests that are not on a cassette are refused. */
  alone(): Upstream {
    return {
      billing: "rehearsal",
      send: async (request) =>
        this.#sendThroughTape(request, undefined) ?? refusal("This session has no cassette and no model."),
    };
  }

  /** Undefined if the request uses no tape. */
  #sendThroughTape(request: UpstreamRequest, model: Upstream | undefined): Promise<UpstreamResponse> | undefined {
    const { origin } = request;
    return origin && this.#tapes.get(origin.sessionId)?.send({ ...request, origin }, model);
  }
}

/** A request of a session. */
export type TapedRequest = UpstreamRequest & { readonly origin: RequestOrigin };

const BYTES_PER_TOKEN = 4;

class SessionTape implements Tape {
  readonly session: string;
  readonly drifts: Drift[] = [];
  readonly ignored: Ignored[] = [];
  readonly #options: TapeOptions;
  readonly #places: Placeholders;
  readonly #player: Player | undefined;
  readonly #recorder: Recorder | undefined;
  readonly #faults: Faults;
  readonly #onEnd: () => void;
  #isHeld = (): boolean => false;
  /** Why the cassette is no longer played. */
  #refusal: string | undefined;

  constructor(options: TapeOptions, onEnd: () => void) {
    const { session, replay, record, places, ignore, faults } = options;
    this.session = session;
    this.#options = options;
    this.#onEnd = onEnd;
    this.#places = placeholdersOf(places, ignore);
    this.#player = replay && new Player(replay.cassette, session, { places: this.#places, ignore });
    this.#recorder = record ? new Recorder(session, this.#places) : undefined;
    this.#faults = new Faults(faults);
  }

  get unplayed(): Tape["unplayed"] {
    return this.#player?.unplayed ?? [];
  }

  get unmet(): Tape["unmet"] {
    return this.#faults.unmet;
  }

  recording(): ReturnType<Tape["recording"]> {
    return this.#recorder?.recording() ?? { threads: [], texts: {} };
  }

  hold(isHeld: () => boolean): void {
    this.#isHeld = isHeld;
  }

  interrupt(): void {
    this.#player?.interrupt();
  }

  end(): void {
    this.#onEnd();
  }

  async send(request: TapedRequest, model: Upstream | undefined): Promise<UpstreamResponse> {
    if (!request.path.startsWith("/v1/messages") || request.path.startsWith("/v1/messages/"))
      return model === undefined ? onTheSide(request) : model.send(request);
    if (this.#isHeld()) return silence(request);
    const fault = this.#faults.next(request.origin);
    if (fault !== undefined) return faulty(fault, request, this.#options.kill);
    const asked = askedBy(request.body ?? new Uint8Array(0), this.#places);
    // Before the model is asked: requests are ordered by arrival, not by answer.
    const done = this.#recorder?.add(asked, request.origin);
    const { stream } = asked;
    const { signal } = request;
    const response = this.#player === undefined ? await ask(request, model) : this.#play(asked, request, this.#player);
    return done === undefined ? response : recordResponse(response, { stream, signal, finish: done });
  }

  #play(asked: RequestFingerprint, { origin, signal }: TapedRequest, player: Player): UpstreamResponse {
    // The agent retries a refused request: this is not another difference, and not another position on the cassette.
    if (this.#refusal !== undefined) return refusal(this.#refusal);
    const { answer, drifts, ignored } = player.next(asked, origin);
    this.drifts.push(...drifts);
    this.ignored.push(...ignored);
    const [first] = drifts;
    if (answer === undefined || (first !== undefined && this.#options.replay?.acceptDrift !== true)) {
      this.#refusal = `The cassette does not match: ${first?.summary ?? "it has no answer for this request"}.`;
      return refusal(this.#refusal);
    }
    return respond(mapTexts(answer, this.#places.fill) as RecordedAnswer, { stream: asked.stream, signal });
  }
}

async function ask(request: UpstreamRequest, model: Upstream | undefined): Promise<UpstreamResponse> {
  return model?.send(request) ?? refusal("This session has no model and no cassette.");
}

/** Free requests, which are not recorded. */
function onTheSide({ path, body }: UpstreamRequest): UpstreamResponse {
  return path.startsWith("/v1/messages/count_tokens")
    ? plainAnswer(200, { input_tokens: Math.ceil((body?.byteLength ?? 0) / BYTES_PER_TOKEN) })
    : plainAnswer(404, { type: "error", error: { type: "not_found_error", message: `Not on a cassette: ${path}` } });
}
