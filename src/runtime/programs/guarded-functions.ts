import type { LoadFunctions } from "../calls/custom-tools.ts";
import type { ProgramGuard } from "./program-guard.ts";

/** Checks function modules right before and right after loading them, because they become part of this process. */
export function guardFunctions(load: LoadFunctions, programs: Pick<ProgramGuard, "require">): LoadFunctions {
  return async (functions) => {
    if (functions.length === 0) return [];
    programs.require({ functions }, "The agent's functions were not loaded");
    const tools = await load(functions);
    programs.require(
      { functions },
      "The agent's functions changed while they were loaded, so the session was not started",
    );
    return tools;
  };
}
