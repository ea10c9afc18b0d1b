/** A loading indicator that appears after a short delay, so that fast pages do not flicker. */
export function Loading({ label = "Loading" }: { readonly label?: string }) {
  return (
    <div role="status" className="flex items-center justify-center gap-2 p-8 text-sm text-faint">
      <span className="pulse-dot size-2 rounded-full bg-accent" aria-hidden />
      {label}…
    </div>
  );
}
