import { PassThrough } from "node:stream";
import type { GatewayAnswer } from "../core/ports/gateway.ts";
import { headerList, headerValue } from "./headers.ts";

/** Where an answer goes: the parts of Node's `ServerResponse` that the gateway uses. */
export interface AnswerSink {
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  /** Alternating names and values. */
  writeHead(status: number, headers: string[] | Readonly<Record<string, string>>): AnswerSink;
  flushHeaders(): void;
  /** False if the writer should wait for `drain` or `close`. */
  write(chunk: Uint8Array | string): boolean;
  end(body?: Uint8Array | string): unknown;
  destroy(): unknown;
  once(event: "close" | "drain", listener: () => void): AnswerSink;
  off(event: "close" | "drain", listener: () => void): AnswerSink;
}

/** The answer to an engine inside the host. Like a connection, it closes when it is read to its end or canceled. */
export class LocalAnswer extends PassThrough implements AnswerSink {
  readonly #head = Promise.withResolvers<GatewayAnswer>();
  headersSent = false;

  constructor() {
    super();
    // `close` reports a reader that has left.
    this.on("error", () => {});
    this.once("close", () => this.#head.reject(new Error("The connection was closed.")));
    this.#head.promise.catch(() => {});
  }

  /** Rejects if it was closed before it started. */
  get head(): Promise<GatewayAnswer> {
    return this.#head.promise;
  }

  writeHead(status: number, headers: string[] | Readonly<Record<string, string>>): this {
    const list = Array.isArray(headers) ? headerList(headers) : Object.entries(headers);
    this.headersSent = true;
    this.#head.resolve({ status, header: (name) => headerValue(list, name), body: this });
    return this;
  }

  flushHeaders(): void {}
}
