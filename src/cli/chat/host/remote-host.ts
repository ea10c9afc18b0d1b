import { awaitServer } from "../../target/remote-failure.ts";
import { remoteFiles } from "../../target/remote-files.ts";
import { remoteHost } from "../../target/remote-host.ts";
import { remoteRecords } from "../../target/remote-records.ts";
import { type RemoteSession, sendable } from "../../target/remote-session.ts";
import { openRemoteSession, refuseLocal } from "../../run/run-remote.ts";
import type { RunFlags } from "../../run/run-flags.ts";
import type { ChosenServer } from "../../target/server.ts";
import type { ChatHost, ChatSession } from "./host.ts";
import { flagsFor } from "./local-host.ts";

/** Sessions on a server, which others may also use and watch. */
export function remoteChatHost(server: ChosenServer, flags: RunFlags): ChatHost {
  refuseLocal(flags);
  const host = remoteHost(server);
  const records = remoteRecords(server);
  return {
    ...host,
    files: remoteFiles(server),
    agent: undefined,
    // The key determines the project.
    project: "",
    directory: undefined,
    isRehearsal: false,
    staysRunning: true,
    sessions: (query) => records.sessions(query),
    async open(wanted, { signal, onTrouble }) {
      const session = await openRemoteSession(server, { ...flagsFor(wanted, flags), json: true }, signal);
      session.onRetry = () => onTrouble(`Connection to ${server.url} lost. Reconnecting…`);
      session.onConnect = () => onTrouble("");
      return chatSession(server, session);
    },
  };
}

function chatSession({ client }: ChosenServer, session: RemoteSession): ChatSession {
  return {
    id: session.id,
    record: session.record,
    notes: session.state.files.workspace?.notes ?? [],
    events: (options) => session.events(options),
    interrupt: () => session.interrupt(),
    post: async (content) => void (await awaitServer(client.sessions.send(session.id, sendable(content)))),
    compact: async () => void (await awaitServer(client.sessions.compact(session.id))),
    setEngine: (engine) => session.change({ engine }),
    setModel: (model) => session.change({ model }),
    setMode: (mode) => session.change({ mode }),
    leave: async () => {},
  };
}
