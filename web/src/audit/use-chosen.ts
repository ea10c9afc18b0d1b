import { useCallback, useEffect, useRef, useState } from "react";
import { useSearchParams } from "wouter";

/** In milliseconds. Browsers refuse to change the address with every key of somebody who holds it down. */
const ADDRESS_MS = 250;

/** The place in the log that is looked at. It stands in the address, so that it can be sent to somebody. */
export function useChosen(head: number): readonly [seq: number, choose: (seq: number) => void] {
  const [parameters, setParameters] = useSearchParams();
  const given = placeOf(parameters.get("seq"), head);
  const [seq, setSeq] = useState(given ?? Math.min(1, head));
  const written = useRef(given);
  // A link on the page, or the way back, changes the address from outside.
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

/** Undefined for what is no place. One behind the end is the end. */
function placeOf(text: string | null, head: number): number | undefined {
  if (text === null || !/^[1-9]\d{0,14}$/.test(text)) return undefined;
  return Math.min(Number(text), head);
}
