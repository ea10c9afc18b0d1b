import { useCallback, useEffect, useRef, useState } from "react";
import { tellProblem } from "../toast.tsx";

/** What went wrong with what a dialog does: shown in it, and told elsewhere when it was closed meanwhile. */
export function useFailure(): readonly [failure: unknown, fail: (thrown: unknown) => void] {
  const [failure, setFailure] = useState<unknown>();
  const isThere = useRef(true);
  useEffect(() => {
    isThere.current = true;
    return () => {
      isThere.current = false;
    };
  }, []);
  const fail = useCallback((thrown: unknown) => (isThere.current ? setFailure(thrown) : tellProblem(thrown)), []);
  return [failure, fail];
}
