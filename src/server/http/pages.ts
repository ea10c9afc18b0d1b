import { createHash } from "node:crypto";

/** Plain HTML pages without scripts, for a server without the console. */

const STYLE = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid; border-radius: 0.25rem; }
input { font: inherit; width: 100%; box-sizing: border-box; padding: 0.4rem; margin: 0.25rem 0 0.75rem; }
button { font: inherit; padding: 0.4rem 1rem; }
`;

/** Headers of a page: they allow only its own style and forms. */
export const PAGE_HEADERS = {
  "content-security-policy": `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
};

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
}

const LOG_OUT = `<p>This browser may be logged in.</p>
<form method="post" action="/logout"><button type="submit">Log out</button></form>`;

/** The page at `/` without a console. `origin` has no characters with a meaning in HTML. */
export function homePage(origin: string, { hasLogin }: { readonly hasLogin: boolean }): string {
  return page(
    "Capstan",
    `<p>This server runs supervised Claude agents. Use it from Anthropic's own client, any HTTP client, or the
<code>capstan</code> command.</p>
<ul>
<li><a href="/docs">API reference</a></li>
<li><a href="/openapi.json">OpenAPI 3.1</a></li>
</ul>
<p>Create a key on the machine that runs the server, and try it:</p>
<pre>capstan keys create --role admin
curl ${origin}/v1/agents -H "x-api-key: ck_…"</pre>
${hasLogin ? LOG_OUT : ""}`,
  );
}

const form = (next: string): string => `<form method="post" action="/login">
<input name="next" type="hidden" value="${escapeHtml(next)}">
<label for="key">Key</label>
<input id="key" name="key" type="password" autocomplete="current-password" required placeholder="ck_…">
<button type="submit">Log in</button>
</form>
<p>Create a key on the machine that runs the server: <code>capstan keys create</code></p>`;

export function loginPage(): string {
  return page("Log in", form("/"));
}

/** `problem` is trusted text; `next` is where a successful login leads. */
export function refusedLoginPage(problem: string, next = "/"): string {
  return page("Not logged in", `<p>${escapeHtml(problem)}</p>\n${form(next)}`);
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
