/** Says that something is on its way; nothing jumps when it comes within a moment. */
export function Loading({ label = "Loading" }: { readonly label?: string }) {
  return (
    <div role="status" className="flex items-center justify-center gap-2 p-8 text-sm text-faint">
      <span className="pulse-dot size-2 rounded-full bg-accent" aria-hidden />
      {label}…
    </div>
  );
}
