import { useCallback, useEffect, useRef, useState } from "react";
import { useSearchParams } from "wouter";

/** In milliseconds. Browsers throttle URL changes, as with a held key. */
const ADDRESS_MS = 250;

/** The selected seq. It is in the URL, so that it can be shared. */
export function useChosen(head: number): readonly [seq: number, choose: (seq: number) => void] {
  const [parameters, setParameters] = useSearchParams();
  const given = positionOf(parameters.get("seq"), head);
  const [seq, setSeq] = useState(given ?? Math.min(1, head));
  const written = useRef(given);
  // Links and the back button also change the URL.
  useEffect(() => {
    if (given === undefined || given === written.current) return;
    written.current = given;
    setSeq(given);
  }, [given]);
  const [isOwn, setOwn] = useState(false);
  useEffect(() => {
    if (!isOwn) return;
    const timer = setTimeout(() => {
      written.current = seq;
      setParameters({ seq: String(seq) }, { replace: true });
      setOwn(false);
    }, ADDRESS_MS);
    return () => clearTimeout(timer);
  }, [seq, isOwn, setParameters]);
  const choose = useCallback((chosen: number) => {
    setSeq(chosen);
    setOwn(true);
  }, []);
  return [seq, choose];
}

/** Undefined if it is not a seq. Clamped to the end of the log. */
function positionOf(text: string | null, head: number): number | undefined {
  if (text === null || !/^[1-9]\d{0,14}$/.test(text)) return undefined;
  return Math.min(Number(text), head);
}
