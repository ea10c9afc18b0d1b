import { approvalFromWire } from "../../protocol/api/approvals.ts";
import type { FollowedHost } from "./followed-session.ts";
import { awaitServer } from "./remote-failure.ts";
import { remoteFiles } from "./remote-files.ts";
import { remoteRecords, WAIT_SECONDS, wireAnswer } from "./remote-records.ts";
import type { ChosenServer } from "./server.ts";

/** A server, used like a host of this process. */
export function remoteHost(server: ChosenServer): FollowedHost & AsyncDisposable {
  const { client } = server;
  const records = remoteRecords(server);
  return {
    isRemote: true,
    approvals: {
      list: (query) => records.approvals(query),
      get: async (id) => approvalFromWire(await awaitServer(client.approvals.get(id))),
      // The server takes the name of the person from the key.
      answer: async (id, answer) =>
        approvalFromWire(await awaitServer(client.approvals.answer(id, wireAnswer(answer)))),
    },
    awaitAnswer: async (id, signal) => approvalFromWire(await client.approvals.get(id, { wait: WAIT_SECONDS, signal })),
    // A key belongs to one project.
    scopes: ["session", "project"],
    mayWriteRules: async () => (await awaitServer(client.whoami())).role === "admin",
    files: remoteFiles(server),
    read: (sessionId, range) => records.read(sessionId, range),
    [Symbol.asyncDispose]: async () => {},
  };
}
