import { useCallback, useEffect, useRef, useState } from "react";
import { tellProblem } from "../toast.tsx";

/** The failure of a dialog's action: shown in the dialog, or as a toast if it was closed meanwhile. */
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
