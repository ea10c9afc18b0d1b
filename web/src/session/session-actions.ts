import { useCallback, useRef } from "react";
import { useLocation } from "wouter";
import { api } from "../api.ts";
import { tell, tellProblem } from "../parts/toast.tsx";
import { keepDraft } from "./draft.ts";

/** In milliseconds: how soon the second Escape must come. */
const TWICE_MS = 2_000;

interface SessionActions {
  readonly interrupt: () => void;
  /** The first time it only says what the second would do. */
  readonly interruptOnSecond: () => void;
  readonly fork: (at: number, draft?: string) => void;
}

/** What steers a session, each thing once at a time. */
export function useSessionActions(id: string): SessionActions {
  const [, navigate] = useLocation();
  const isBusy = useRef(false);
  const lastEscape = useRef(0);
  const once = useCallback(async (act: () => Promise<void>): Promise<void> => {
    if (isBusy.current) return;
    isBusy.current = true;
    try {
      await act();
    } catch (thrown) {
      tellProblem(thrown);
    } finally {
      isBusy.current = false;
    }
  }, []);
  const interrupt = useCallback(() => {
    void once(async () => {
      tell("Interrupting…");
      await api.sessions.interrupt(id);
    });
  }, [id, once]);
  return {
    interrupt,
    interruptOnSecond: useCallback(() => {
      if (Date.now() - lastEscape.current < TWICE_MS) return interrupt();
      lastEscape.current = Date.now();
      tell("Escape once more interrupts the agent.");
    }, [interrupt]),
    fork: useCallback(
      (at, draft = "") => {
        void once(async () => {
          const forked = await api.sessions.fork(id, { at });
          keepDraft(forked.id, draft);
          tell("Forked: this is the new session.");
          navigate(`/sessions/${forked.id}`);
        });
      },
      [id, navigate, once],
    ),
  };
}
