import { userInfo } from "node:os";

/** The name of the user who runs this process; the uid if the system has no name for it. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "?"}`;
  }
}
