import { type DestinationStream, pino } from "pino";
import { color } from "../terminal/text.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

/** Bytes to buffer for a slow reader of the log. Beyond that, lines are dropped. */
const MAX_BUFFERED = 16 * 1_048_576;

/** Standard error: JSON for programs, short lines on a terminal. */
export function logDestination(): DestinationStream {
  if (process.stderr.isTTY) return { write: (line) => void process.stderr.write(`${shortLine(line)}\n`) };
  return pino.destination({ fd: process.stderr.fd, sync: false, maxLength: MAX_BUFFERED });
}

interface Line {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
  /** The request id that the client also received. */
  readonly id?: string;
  readonly method?: string;
  readonly path?: string;
  readonly status?: number;
  readonly ms?: number;
  readonly caller?: string;
  readonly err?: { readonly message: string };
}

function shortLine(json: string): string {
  const { level, time, msg, id, method, path, status, ms, caller, err } = JSON.parse(json) as Line;
  const at = color.dim(time.slice(11, 19));
  const failure = err === undefined ? "" : ` ${color.red(escapeHidden(err.message))}`;
  if (method === undefined) return `${at} ${level === "info" ? "" : `${level}: `}${msg}${failure}`;
  const which = status !== undefined && status >= 400 && id !== undefined ? ` ${color.dim(id)}` : "";
  return `${at} ${method} ${escapeHidden(path ?? "")} ${status} ${ms}ms ${caller ?? ""}${which}${failure}`.trimEnd();
}
