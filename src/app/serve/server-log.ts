import { type DestinationStream, type Logger, pino } from "pino";
import type { Redactor } from "../../core/redaction/redaction.ts";

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "silent";

/** The server's log: one JSON object per line, without secrets. */
export function serverLog({
  level,
  redactor,
  destination,
}: {
  readonly level: LogLevel;
  readonly redactor: Redactor;
  readonly destination: DestinationStream;
}): Logger {
  const clean = (text: string): string => redactor.text(text).replaceAll(/ck_[\w-]{43}/g, "[redacted:key]");
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: {
        path: clean,
        // Other fields of an error may contain anything.
        err: (thrown: unknown) => {
          if (!(thrown instanceof Error)) return clean(String(thrown));
          const { code } = thrown as NodeJS.ErrnoException;
          return { message: clean(thrown.message), code, stack: clean(thrown.stack ?? "") };
        },
      },
    },
    destination,
  );
}
