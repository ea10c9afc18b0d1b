import type { Asking } from "../../../src/cli/ask/ask.ts";
import { Chat } from "../../../src/cli/chat/chat.ts";
import type { Room } from "../../../src/cli/chat/commands/command.ts";
import { resolveInput } from "../../../src/cli/chat/commands/commands.ts";
import type { ChatHost } from "../../../src/cli/chat/host/host.ts";
import { reportText } from "../../../src/cli/agents/validate-view.ts";
import { readSuite } from "../../../src/config/suite/suite-file.ts";
import type { Observe } from "./observables.ts";
import { EVERYTHING } from "../../support/trust.ts";

/** What `capstan validate` prints. */
export const report: Observe = ({ loaded: { agent, sessionEnvironment } }) => {
  const besides = {
    files: [],
    instructionsFile: undefined,
    promptBefore: 0,
    functionTools: undefined,
    tests: undefined,
    notes: [],
  };
  return reportText({ agent, sessionEnvironment, hasCredential: true, ...besides }, "agent.yaml");
};

/** The cases that `capstan test` would try the agent on. */
export const suite: Observe = async ({ loaded: { agentFile }, scratch }) => {
  const read = await readSuite(agentFile?.files[0] ?? "", { HOME: scratch }, EVERYTHING);
  return read.suite.cases.map(({ name, turns }) => ({ name, turns }));
};

/** What `/help` prints in a chat with the agent. */
export const help: Observe = async ({ loaded: { agent } }) => {
  const printed: string[] = [];
  const ui = {
    width: () => 80,
    isPlain: true,
    print: (lines: readonly string[]) => void printed.push(...lines),
    redraw: () => {},
    progress: () => {},
  };
  // It is never asked for a session, and asks nobody.
  const chat = new Chat({ agent } as ChatHost, {} as Asking, ui);
  await resolveInput({ chat } as Room, "/help");
  return printed;
};
