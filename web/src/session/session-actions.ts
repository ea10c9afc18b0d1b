import { useCallback, useRef } from "react";
import { useLocation } from "wouter";
import type { ClippedEvent } from "../../../src/client/index.ts";
import { api } from "../api.ts";
import { tell, tellProblem } from "../parts/toast.tsx";
import { changeDraft } from "./compose/draft.ts";

type UserMessage = ClippedEvent & { readonly type: "user.message" };

/** In milliseconds: how soon the second Escape must come. */
const TWICE_MS = 2_000;

export interface SessionActions {
  readonly interrupt: () => void;
  /** The first time it only says what the second would do. */
  readonly interruptOnSecond: () => void;
  /** From a place in the log. The message behind it is there to be said otherwise. */
  readonly fork: (at: number, message?: UserMessage) => void;
}

/** What steers a session, each thing once at a time; the one never waits for the other. */
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
      tell("Escape once more interrupts the agent.");
    }, [interrupt]),
    fork: useCallback(
      (at, message) => {
        forkOnce(async () => {
          const said = message === undefined ? [] : (await wholeMessage(id, message)).content;
          const forked = await api.sessions.fork(id, { at });
          const text = said.map((block) => (block.type === "text" ? block.text : "")).join("");
          changeDraft(forked.id, () => ({ text }));
          const isAll = said.every(({ type }) => type === "text");
          tell(`Forked: this is the new session.${isAll ? "" : " What was attached to the message is not in it."}`);
          navigate(`/sessions/${forked.id}`);
        });
      },
      [id, navigate, forkOnce],
    ),
  };
}

/** The page may have only the beginning of a long one. */
async function wholeMessage(id: string, message: UserMessage): Promise<UserMessage> {
  if (message.clipped !== true) return message;
  const whole = await api.sessions.event(id, message.seq);
  if (whole.type !== "user.message") throw new Error("The message is not in the log any more.");
  return whole;
}

/** Does a thing unless it is being done. */
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
