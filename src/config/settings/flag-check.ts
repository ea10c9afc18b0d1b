import { CapstanError } from "../../core/errors.ts";
import { problemsOf } from "../yaml/problems.ts";
import { type SettingsFile, settingsFile } from "./settings-schema.ts";

/** A flag's value, checked as if it were in a settings file. */
export function checkedFlag(flag: string, values: unknown): SettingsFile {
  const parsed = settingsFile.safeParse(values);
  if (parsed.success) return parsed.data;
  const [problem] = problemsOf(parsed.error, { schema: settingsFile, value: values });
  throw new CapstanError("invalid_input", `${flag}: ${problem?.text ?? "not valid"}`, { data: { flag } });
}
