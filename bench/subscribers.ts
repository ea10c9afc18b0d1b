import { Agent, get, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** Clients that follow a stream and count what each receives. */
export class Subscribers implements Disposable {
  readonly #responses: IncomingMessage[] = [];
  /** For each client, the sequence numbers it received, in order. */
  readonly ids: number[][] = [];
  /** Frames received by all clients together, including previews. */
  frames = 0;

  static async open(count: number, url: string, key: string): Promise<Subscribers> {
    const subscribers = new Subscribers();
    const agent = new Agent({ keepAlive: false });
    const headers = { "x-api-key": key };
    await Promise.all(
      Array.from({ length: count }, async () => {
        const response = await new Promise<IncomingMessage>((resolve, reject) => {
          get(url, { agent, headers }, resolve).on("error", reject);
        });
        if (response.statusCode !== 200) throw new Error(`The stream answered ${response.statusCode}.`);
        subscribers.#follow(response);
      }),
    );
    return subscribers;
  }

  /** Waits until every client has received this sequence number. */
  async waitUntilTold(id: number): Promise<void> {
    while (!this.ids.every((seen) => seen.at(-1) === id)) await sleep(5);
  }

  [Symbol.dispose](): void {
    for (const response of this.#responses) response.destroy();
  }

  #follow(response: IncomingMessage): void {
    const seen: number[] = [];
    this.ids.push(seen);
    this.#responses.push(response);
    let rest = "";
    response.setEncoding("utf8").on("data", (text: string) => {
      const blocks = (rest + text).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        if (!block.includes("data: ") || block.startsWith("event: ping")) continue;
        this.frames += 1;
        const [, place] = /^id: (\d+)$/m.exec(block) ?? [];
        if (place !== undefined) seen.push(Number(place));
      }
    });
    response.on("error", () => {});
  }
}
