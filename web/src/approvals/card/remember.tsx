import { Plus, X } from "lucide-react";
import { useId } from "react";
import { Button, IconButton } from "../../parts/button.tsx";
import { cx } from "../../parts/cx.ts";
import { Input } from "../../parts/form/field.tsx";

export type Scope = "once" | "session" | "project";

const SCOPES: readonly { readonly scope: Scope; readonly label: string }[] = [
  { scope: "once", label: "Just this call" },
  { scope: "session", label: "This session" },
  { scope: "project", label: "This project" },
];

/** How long an answer applies, and the exact rules that are saved for it. */
export function Remember({
  scope,
  rules,
  forbidden,
  mayWrite,
  onScope,
  onRules,
}: {
  readonly scope: Scope;
  readonly rules: readonly string[];
  /** Why the answer cannot be remembered. */
  readonly forbidden: string | undefined;
  /** Whether rules other than the suggested ones can be saved. */
  readonly mayWrite: boolean;
  readonly onScope: (scope: Scope) => void;
  readonly onRules: (rules: readonly string[]) => void;
}) {
  const name = useId();
  const where = scope === "session" ? "for the rest of this session" : "in every session of this project";
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-xs text-faint">Apply to</legend>
      <div className="flex w-fit flex-wrap rounded-md border border-line bg-sunken p-0.5 max-md:w-full">
        {SCOPES.map(({ scope: value, label }) => {
          const isOff = forbidden !== undefined && value !== "once";
          return (
            <label
              key={value}
              className={cx(
                // Keeps the hidden radio button in place, so that the page does not jump to it.
                "relative flex h-7 items-center justify-center rounded-sm px-2.5 text-xs font-medium transition-colors max-md:h-10 max-md:flex-1",
                "has-focus-visible:outline-2 has-focus-visible:outline-accent",
                value === scope ? "bg-surface text-text shadow-card" : "text-muted",
                isOff ? "cursor-not-allowed opacity-50" : "cursor-pointer hover:text-text",
              )}
            >
              <input
                type="radio"
                name={name}
                className="sr-only"
                checked={value === scope}
                disabled={isOff}
                onChange={() => onScope(value)}
              />
              {label}
            </label>
          );
        })}
      </div>
      {forbidden !== undefined && <p className="text-xs text-faint">{forbidden}</p>}
      {scope !== "once" && (
        <div className="flex flex-col gap-1.5 rounded-md border border-line p-2">
          <p className="text-xs text-muted">
            Calls matching {rules.length === 1 ? "this rule" : "these rules"} will run without asking {where}:
          </p>
          {rules.map((rule, index) => (
            // Rules have no other identity than their position.
            // oxlint-disable-next-line react/no-array-index-key
            <div key={index} className="flex items-center gap-1">
              <Input
                aria-label={rules.length === 1 ? "Rule" : `Rule ${index + 1}`}
                className="font-mono text-xs max-md:h-10"
                dir="ltr"
                spellCheck={false}
                value={rule}
                readOnly={!mayWrite}
                onChange={(event) => onRules(rules.with(index, event.target.value))}
              />
              {rules.length > 1 && (
                <IconButton
                  label={`Remove rule ${index + 1}`}
                  className="max-md:size-10"
                  onClick={() => onRules(rules.toSpliced(index, 1))}
                >
                  <X className="size-4" />
                </IconButton>
              )}
            </div>
          ))}
          {mayWrite && (
            <Button
              look="quiet"
              small
              className="w-fit max-md:h-10"
              icon={<Plus className="size-3.5" />}
              onClick={() => onRules([...rules, ""])}
            >
              Add a rule
            </Button>
          )}
        </div>
      )}
    </fieldset>
  );
}
