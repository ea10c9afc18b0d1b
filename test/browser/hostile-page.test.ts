import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openBrowser } from "../support/browser.ts";
import { collect, exitOf, testCli } from "../support/cli.ts";
import { call, say, scriptedModel } from "../support/scripted-model.ts";
import { until } from "../support/until.ts";

/** A page of somebody else, with whatever it wants to do to the server. */
async function hostilePage() {
  const html = readFileSync("test/browser/hostile-page.html");
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { port, [Symbol.dispose]: () => void server.close() };
}

test("a page of another origin can neither read nor do anything with somebody's login", async () => {
  await using model = await scriptedModel((request) =>
    request.toolResults.length > 0 ? say("Done.") : call("Bash", { command: "echo hello" }),
  );
  using cli = testCli(model.url);
  const child = cli.start(["serve", "--port", "0", "--json"]);
  const stdout = collect(child.stdout);
  const text = await until(
    () => stdout.text,
    (said) => said.includes("\n"),
  );
  const { url, login_url: login } = JSON.parse(text) as { url: string; login_url: string };
  // The name leads to this machine, as one does that its owner has rebound.
  await using browser = await openBrowser("--host-resolver-rules=MAP evil.example 127.0.0.1");
  const context = await browser.newContext();
  const own = await context.newPage();
  await own.goto(login);
  const session = await ask(own, "POST", `${url}/api/sessions`, { message: "Work.", cwd: cli.cwd });
  const id = String(session["id"]);
  const waiting = await until(
    async () => (await ask(own, "GET", `${url}/api/approvals?status=pending`))["data"] as { id: string }[],
    (list) => list.length === 1,
  );
  const approval = waiting[0]?.id ?? "";

  using evil = await hostilePage();
  // The same machine by another name is another site; by the same name, with another port, it is another origin.
  for (const host of ["localhost", "127.0.0.1"]) {
    const page = await context.newPage();
    const query = new URLSearchParams({ base: url, approval, session: id });
    await page.goto(`http://${host}:${evil.port}/?${query.toString()}`);
    const results = await page.evaluate("attack()");
    expect(results, host).toEqual({
      "reads approvals": expect.stringContaining("blocked"),
      "answers as JSON": expect.stringContaining("blocked"),
      "answers without a preflight": expect.stringMatching(/blocked|opaque/),
      "answers by a form": "sent",
      "follows the session": "refused",
      "opens a socket": "refused",
      "frames the server": "hidden",
    });
    await page.close();
  }
  // For the browser a page under that name is of the server's own origin; the server knows better.
  const { port } = new URL(url);
  const rebound = await context.newPage();
  for (const path of ["/", "/login", "/api/approvals", `/v1/sessions/${id}`]) {
    const answer = await rebound.goto(`http://evil.example:${port}${path}`);
    expect(answer?.status(), path).toBe(403);
    expect(await answer?.text()).toContain("does not answer to the name");
  }
  const [written] = await rebound.evaluate<[number]>(
    `fetch("/api/approvals/${approval}/answer", { method: "POST", body: '{"behavior":"allow"}', headers: { "content-type": "application/json" } }).then(({ status }) => [status])`,
  );
  expect(written).toBe(403);
  await rebound.close();

  const after = await ask(own, "GET", `${url}/api/approvals/${approval}`);
  expect(after).toMatchObject({ status: "pending", answer: null });
  // The very same request is good when the person makes it.
  await ask(own, "POST", `${url}/api/approvals/${approval}/answer`, { behavior: "deny" });
  child.kill("SIGTERM");
  await exitOf(child);
});

/** With the login of the person's own page. */
async function ask(
  page: Page,
  method: string,
  address: string,
  data?: unknown,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await page.request.fetch(address, { method, ...(data !== undefined && { data }) });
  expect(response.status(), await response.text()).toBeLessThan(300);
  return (await response.json()) as Record<string, unknown>;
}
