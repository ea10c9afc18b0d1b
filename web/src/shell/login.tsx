import { Field, Input } from "../parts/form/field.tsx";
import { Button } from "../parts/button.tsx";
import { Logo } from "./logo.tsx";

/** The login page, also after a login ends. The form posts to the server itself, so that the key goes nowhere else. */
export function Login({ wasIn }: { readonly wasIn: boolean }) {
  return (
    <main className="mx-auto flex min-h-full max-w-sm flex-col justify-center gap-4 p-6">
      <Logo />
      <h1 className="text-xl font-semibold">{wasIn ? "You are logged out" : "Log in"}</h1>
      <p className="text-sm text-muted">
        {wasIn
          ? "Your login expired or its key was revoked. Nothing is lost: sessions continue without this page."
          : "Open the URL that the server printed when it started, or log in with a key."}
      </p>
      <form method="post" action="/login" className="flex flex-col gap-3">
        {/* Return to the current page. */}
        <input type="hidden" name="next" value={`${location.pathname}${location.search}`} />
        <Field
          label="Key"
          hint={
            <>
              Create one on the server’s machine: <code className="font-mono">capstan keys create</code>
            </>
          }
        >
          <Input name="key" type="password" required autoComplete="current-password" placeholder="ck_…" />
        </Field>
        <Button type="submit" look="primary">
          Log in
        </Button>
      </form>
    </main>
  );
}
