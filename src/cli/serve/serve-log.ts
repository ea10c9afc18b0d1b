import { type DestinationStream, pino } from "pino";
import { colour } from "../terminal/text.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

/** In bytes: what may wait for a reader of the log that does not read. Then lines are lost rather than memory. */
const MAX_WAITING = 16 * 1_048_576;

/** Standard error: as JSON for programs, as short lines for a person at a terminal. */
export function logDestination(): DestinationStream {
  if (process.stderr.isTTY) return { write: (line) => void process.stderr.write(`${shortLine(line)}\n`) };
  return pino.destination({ fd: process.stderr.fd, sync: false, maxLength: MAX_WAITING });
}

interface Line {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
  /** Of a request; clients are told the same one. */
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
  const at = colour.dim(time.slice(11, 19));
  const failure = err === undefined ? "" : ` ${colour.red(escapeHidden(err.message))}`;
  if (method === undefined) return `${at} ${level === "info" ? "" : `${level}: `}${msg}${failure}`;
  const which = status !== undefined && status >= 400 && id !== undefined ? ` ${colour.dim(id)}` : "";
  return `${at} ${method} ${escapeHidden(path ?? "")} ${status} ${ms}ms ${caller ?? ""}${which}${failure}`.trimEnd();
}
