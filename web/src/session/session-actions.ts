import { useCallback, useRef } from "react";
import { useLocation } from "wouter";
import type { ClippedEvent } from "../../../src/client/index.ts";
import { api } from "../api.ts";
import { tell, tellProblem } from "../parts/toast.tsx";
import { changeDraft } from "./compose/draft.ts";

type UserMessage = ClippedEvent & { readonly type: "user.message" };

/** In milliseconds: the time between two Escapes. */
const TWICE_MS = 2_000;

export interface SessionActions {
  readonly interrupt: () => void;
  /** The first Escape only announces what the second will do. */
  readonly interruptOnSecond: () => void;
  /** Forks at a seq of the log. The message after it is put into the composer to be edited. */
  readonly fork: (at: number, message?: UserMessage) => void;
}

/** Actions on a session. Each runs once at a time, independent of the others. */
export function useSessionActions(id: string): SessionActions {
  const [, navigate] = useLocation();
  const interruptOnce = useOnce();
  const forkOnce = useOnce();
  const lastEscape = useRef(0);
  const interrupt = useCallback(() => {
    interruptOnce(async () => {
      tell("Interrupting…");
      await api.sessions.interrupt(id);
    });
  }, [id, interruptOnce]);
  return {
    interrupt,
    interruptOnSecond: useCallback(() => {
      if (Date.now() - lastEscape.current < TWICE_MS) return interrupt();
      lastEscape.current = Date.now();
      tell("Press Escape again to interrupt the agent.");
    }, [interrupt]),
    fork: useCallback(
      (at, message) => {
        forkOnce(async () => {
          const said = message === undefined ? [] : (await wholeMessage(id, message)).content;
          const forked = await api.sessions.fork(id, { at });
          const text = said.map((block) => (block.type === "text" ? block.text : "")).join("");
          changeDraft(forked.id, () => ({ text }));
          const isAll = said.every(({ type }) => type === "text");
          tell(`Forked. This is the new session.${isAll ? "" : " The message's attachments were not copied."}`);
          navigate(`/sessions/${forked.id}`);
        });
      },
      [id, navigate, forkOnce],
    ),
  };
}

/** The page may have only the beginning of a long message. */
async function wholeMessage(id: string, message: UserMessage): Promise<UserMessage> {
  if (message.clipped !== true) return message;
  const whole = await api.sessions.event(id, message.seq);
  if (whole.type !== "user.message") throw new Error("The message is no longer in the log.");
  return whole;
}

/** Runs an action unless it is already running. */
function useOnce(): (act: () => Promise<void>) => void {
  const isBusy = useRef(false);
  return useCallback((act) => {
    if (isBusy.current) return;
    isBusy.current = true;
    act()
      .catch(tellProblem)
      .finally(() => (isBusy.current = false));
  }, []);
}
