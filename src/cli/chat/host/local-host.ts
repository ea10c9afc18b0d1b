import { resolve } from "node:path";
import type { Configuration } from "../../../config/load.ts";
import type { Runtime } from "../../../runtime/runtime.ts";
import type { Session } from "../../../runtime/session.ts";
import type { Turn } from "../../../runtime/turn/turn.ts";
import { settleAbandoned } from "../../run/settle-abandoned.ts";
import { hostFor } from "../../target/host.ts";
import { configure } from "../../run/configure.ts";
import { openSession } from "../../run/run.ts";
import type { RunFlags } from "../../run/run-flags.ts";
import { count } from "../../terminal/text.ts";
import { trustingFor } from "../../trust/trust-flags.ts";
import type { ChatHost, ChatSession, Wanted } from "./host.ts";

/** A host in this process. Throws configuration errors before anything is shown. */
export async function localChatHost(flags: RunFlags): Promise<ChatHost> {
  // At a terminal, the person was asked before the chat opened.
  const configuration = await configure(flags, { trust: await trustingFor(flags, { isAsking: false }) });
  return chatHost(await hostFor(configuration, flags.rehearsal), { configuration, flags });
}

function chatHost(
  host: Runtime,
  { configuration, flags }: { readonly configuration: Configuration; readonly flags: RunFlags },
): ChatHost {
  return {
    agent: configuration.agent,
    project: configuration.project.id,
    directory: resolve(flags.cwd),
    isRehearsal: flags.rehearsal === true,
    staysRunning: false,
    approvals: host.approvals,
    files: host.files,
    read: (sessionId, range) => host.read(sessionId, range),
    sessions: (query) => host.sessions(query),
    async open(wanted, { asking, signal, onProgress }) {
      const session = await openSession(host, {
        configuration,
        // Notes are shown in the chat instead of on standard error.
        flags: { ...flagsFor(wanted, flags), json: true },
        asking,
        signal,
        onProgress: ({ files, totalFiles }) => onProgress(`copying ${count(files)} of ${count(totalFiles)} files`),
      });
      return chatSession(session);
    },
    settleAbandoned: (reporting) =>
      settleAbandoned(host, {
        project: configuration.project.id,
        onCrash: configuration.settings.on_crash,
        ...reporting,
      }),
    [Symbol.asyncDispose]: () => host.close(),
  };
}

/** For an existing or forked session, passes on only the flags that can change. */
export function flagsFor(wanted: Wanted, flags: RunFlags): RunFlags {
  if (wanted.kind === "new") {
    const { resume: _resumed, fork: _forked, continue: _last, ...others } = flags;
    return others;
  }
  const { cwd, engine, model, mode, maxUsd, maxSteps, timeout } = flags;
  if (wanted.kind === "fork") return { cwd, fork: wanted.id };
  return {
    cwd,
    resume: wanted.id,
    ...(engine !== undefined && { engine }),
    ...(model !== undefined && { model }),
    ...(mode !== undefined && { mode }),
    ...(maxUsd !== undefined && { maxUsd }),
    ...(maxSteps !== undefined && { maxSteps }),
    ...(timeout !== undefined && { timeout }),
  };
}

function chatSession(session: Session): ChatSession {
  return {
    id: session.id,
    record: session.record,
    notes: session.state.files.workspace?.notes ?? [],
    events: (options) => session.events(options),
    interrupt: () => session.interrupt(),
    post: (content) => waitForStart(session.send(content)),
    compact: () => waitForStart(session.compact()),
    setEngine: (engine) => session.setEngine(engine),
    setModel: (model) => session.setModel(model),
    setMode: (mode) => session.setMode(mode),
    leave: () => session.close(),
  };
}

/** Resolves when the turn has started; rejects if it was refused. */
async function waitForStart(turn: Turn): Promise<void> {
  for await (const _ of turn) return;
}
