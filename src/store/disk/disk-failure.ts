import { CapstanError, messageOf } from "../../core/errors.ts";

/** Converts file system errors to errors that say what to do. */
export async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw diskFailure(thrown, path);
  }
}

function diskFailure(thrown: unknown, path: string): CapstanError {
  const details = { cause: thrown, data: { path } };
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  if (code === "ENOSPC" || code === "EDQUOT")
    return new CapstanError(
      "store_full",
      `The disk of ${path} is full; this file was not saved. Free some space and try again.`,
      { ...details, retryable: true },
    );
  return new CapstanError(
    "store_failed",
    `${path} cannot be used (${messageOf(thrown)}). Give this user read and write permission for its directory, or choose another.`,
    details,
  );
}
