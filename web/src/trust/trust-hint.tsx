import { useQuery } from "@tanstack/react-query";
import { ShieldAlert } from "lucide-react";
import { Link } from "wouter";
import { useMay } from "../caller.tsx";
import { hintOf } from "./entry-facts.ts";
import { trustQuery } from "./trust-query.ts";

/** Says why the project's settings may not apply. Where the list cannot be loaded, the Settings page reports it. */
export function TrustHint() {
  const { data = [] } = useQuery({ ...trustQuery, enabled: useMay("operator") });
  const hint = hintOf(data);
  if (hint === undefined) return null;
  return (
    <p
      role="status"
      className="flex max-w-3xl items-start gap-2 rounded-lg border border-waiting/40 bg-waiting-soft p-3 text-sm"
    >
      <ShieldAlert className="mt-0.5 size-4 shrink-0 text-waiting" aria-hidden />
      <span>
        {hint}{" "}
        <Link href="/settings#trust" className="font-medium text-accent underline">
          Review
        </Link>
      </span>
    </p>
  );
}
