import { ShieldAlert, ShieldCheck } from "lucide-react";
import { Link } from "wouter";
import type { WireAuditReport } from "../../../src/client/index.ts";
import { cx } from "../parts/cx.ts";
import { Ago } from "../parts/figures/figures.tsx";
import { asServerTime } from "../server-watch.ts";
import { count } from "../../../src/words/amounts.ts";

type Finding = WireAuditReport["findings"][number];

/** The result of a verification. `of` is what was verified. */
export function VerificationResult({
  report,
  at,
  of,
}: {
  readonly report: WireAuditReport;
  /** In milliseconds: when the response arrived. */
  readonly at: number;
  readonly of: string;
}) {
  const { sound, findings, key_id: key, seals, notes } = report;
  const Icon = sound ? ShieldCheck : ShieldAlert;
  return (
    <div
      role="status"
      className={cx(
        "flex gap-3 rounded-lg border p-3 text-sm",
        sound ? "border-good/40 bg-good-soft" : "border-bad/40 bg-bad-soft",
      )}
    >
      <Icon className={cx("mt-0.5 size-5 shrink-0", sound ? "text-good" : "text-bad")} aria-hidden />
      <div className="flex min-w-0 flex-1 flex-col gap-2">
        <div>
          <p className={cx("font-semibold", sound ? "text-good" : "text-bad")}>
            {sound ? `Log of ${of} verified` : `Verification of ${of} failed: ${count(findings.length, "problem")}`}
          </p>
          <p className="text-xs text-muted">
            {sound &&
              (seals > 0 ? "The hash chain is intact and matches the signed seals. " : "The hash chain is intact. ")}
            {count(seals, "seal")},{" "}
            {key === null ? (
              "no key"
            ) : (
              <>
                key <code className="font-mono">{key}</code>
              </>
            )}
            . Verified <Ago at={new Date(asServerTime(at)).toISOString()} />.
          </p>
        </div>
        {findings.length > 0 && (
          <ul className="flex flex-col gap-2">
            {findings.map((finding, index) => (
              // Findings have no ids and keep their order.
              // oxlint-disable-next-line react/no-array-index-key
              <FindingView key={index} finding={finding} />
            ))}
          </ul>
        )}
        {notes.length > 0 && (
          <ul aria-label="Notes" className="list-disc pl-4 text-xs text-muted">
            {notes.map((note) => (
              <li key={note} className="break-words">
                {note}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

function FindingView({ finding: { kind, session_id: id, seq, problem, remedy } }: { readonly finding: Finding }) {
  return (
    <li className="rounded-md border border-bad/30 bg-surface p-2">
      <p className="font-medium break-words first-letter:uppercase">{problem}</p>
      <p className="text-xs text-muted">
        {id === undefined ? (
          <>
            In the {kind === "key" ? "key" : "register"}
            {seq === undefined ? "" : `, seal ${seq}`}.
          </>
        ) : kind === "missing" ? (
          <>
            Session <code className="font-mono break-all">{id}</code>
          </>
        ) : (
          <Link
            href={`/audit/${id}${seq === undefined ? "" : `?seq=${seq}`}`}
            className="break-all text-accent underline"
          >
            {id}
            {seq === undefined ? "" : `, event ${seq}`}
          </Link>
        )}
      </p>
      <p className="mt-1 break-words">
        <span className="font-medium">What to do: </span>
        {remedy}
      </p>
    </li>
  );
}
