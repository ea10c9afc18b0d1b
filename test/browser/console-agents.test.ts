import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { isTooWide, seriousBarriers } from "../support/barriers.ts";
import { openConsole } from "../support/console.ts";

const SERVER = fileURLToPath(new URL("../support/mcp-server.ts", import.meta.url));

test("an agent is made, changed, compared, checked and copied; a change that somebody else made is told", async () => {
  await using console = await openConsole();
  const { page, client, url } = console;
  await console.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(`${url}/agents`);
  await page.getByText("No agents in this project yet").waitFor();
  await page.getByRole("button", { name: "New agent" }).click();

  // What the server finds wrong is shown at its line.
  const text = page.getByLabel("Definition");
  await text.fill("name: Reviewer\nmodel: claude-sonnet-5\npermissions:\n  deny:\n    - Bsh(rm *)\nbudjet: {}\n");
  await page.getByRole("button", { name: "Save agent" }).click();
  const wrong = page.getByRole("alert").getByRole("listitem");
  await wrong.first().waitFor();
  expect(await wrong.allInnerTexts()).toEqual([
    expect.stringMatching(/^line 1\s*name: lower-case/),
    expect.stringMatching(/^line 5\s*permissions.deny.0: .*did you mean Bash/),
    expect.stringMatching(/^line 6\s*Unrecognized key: "budjet"/),
  ]);
  expect(await seriousBarriers(page)).toEqual([]);
  await page.getByRole("button", { name: "line 6" }).click();
  expect(await page.evaluate("getSelection().toString()")).toBe("budjet: {}");
  await text.fill(
    JSON.stringify({
      name: "reviewer",
      model: "claude-sonnet-5",
      instructions: "Review <img src=x onerror=alert(1)> **all**.\n",
      tools: ["Read", "Bash"],
      permissions: { deny: ["Bash(rm *)"], allow: ["Bash(git diff *)"] },
      budget: { usd: 2 },
      output_schema: { type: "object", properties: { verdict: { type: "string" } } },
      mcp_servers: {
        office: { command: process.execPath, args: [SERVER], env: { API_TOKEN: "very-secret-value" } },
        gone: { command: "no-such-program-anywhere" },
      },
    }),
  );
  await page.getByLabel("Description").fill("مراجع");
  await page.getByRole("button", { name: "Save agent" }).click();
  await page.getByRole("heading", { name: "reviewer", level: 1 }).waitFor();
  await page.getByText("مراجع").waitFor();
  for (const name of ["Instructions", "Permissions", "MCP servers", "Output schema"])
    await page.getByRole("heading", { name }).waitFor();
  await page.getByText("Bash(git diff *)").waitFor();
  // As the model reads it, and never as a page.
  await page.getByText("Review <img src=x onerror=alert(1)> **all**.").waitFor();
  expect(await page.content()).not.toContain("very-secret-value");
  expect(await seriousBarriers(page)).toEqual([]);
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";

  // Two people change it at once.
  await page.getByRole("button", { name: "Edit" }).click();
  const { definition } = await client.agents.get(id);
  await client.agents.update(id, { definition: { ...definition, effort: "high" } });
  await text.fill((await text.inputValue()).replace("Bash(git diff *)", "Bash(git log *)"));
  await page.getByText("+1").waitFor();
  await page.getByRole("button", { name: "Save as version 2" }).click();
  const conflict = page.getByRole("alert").filter({ hasText: "Someone else saved another version" });
  await conflict.getByText("effort: high").waitFor();
  expect(await seriousBarriers(page)).toEqual([]);
  await conflict.getByRole("button").last().click();
  await page.getByRole("button", { name: "Save as version 3" }).click();
  await page.getByText("version 3", { exact: true }).waitFor();
  // The secret that was only shown as a mark is still the stored one.
  expect((await client.agents.get(id)).definition.permissions.allow).toEqual(["Bash(git log *)"]);

  await page.getByRole("tab", { name: "Versions" }).click();
  const changes = page.getByRole("region", { name: /Changes in/ });
  await changes.getByText("effort: high").waitFor();
  await page.getByLabel("From").selectOption({ label: "version 1" });
  await changes.getByText("Bash(git diff *)").waitFor();
  expect(await changes.getByText("effort").count()).toBe(0);

  await page.getByRole("tab", { name: "Check" }).click();
  await page.getByRole("button", { name: "Check" }).click();
  await page.getByText("does not work here").waitFor({ timeout: 30_000 });
  await page.getByRole("list", { name: "Tools of office" }).getByText("book").waitFor();
  await page.getByText("not reachable").waitFor();

  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await page.getByRole("menuitem", { name: "As an agent file, YAML" }).click();
  await page.getByText("Save it as agent.yaml").waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toContain("API_TOKEN: ${API_TOKEN}");

  await page.getByRole("button", { name: "Start session" }).click();
  await page.waitForURL(`${url}/new?agent=${id}`);
  await page.goto(`${url}/agents/agent_nobody`);
  await page.getByText("Agent not found").waitFor();

  // Who may only look is offered nothing else.
  const viewer = await console.visitor("viewer");
  await viewer.goto(`${url}/agents/${id}?tab=check`);
  await viewer.getByText("requires the operator role").waitFor();
  expect(await viewer.getByRole("button", { name: "Check" }).isDisabled()).toBe(true);
  expect(await viewer.getByRole("button", { name: /Edit|Start session/ }).count()).toBe(0);
  await viewer.goto(`${url}/agents/new`);
  await viewer.getByText("Only admins can create agents").waitFor();

  await page.setViewportSize({ width: 360, height: 740 });
  for (const place of ["/agents", `/agents/${id}`, `/agents/${id}?edit=`, `/agents/${id}?tab=versions`]) {
    await page.goto(`${url}${place}`);
    await page.getByText("reviewer").first().waitFor();
    expect(await isTooWide(page), place).toBe(false);
  }
  expect(await seriousBarriers(page)).toEqual([]);
  expect(console.complaints).toEqual([]);
});

test("a decision is explained, other rules are tried on what was decided, and a grant is revoked", async () => {
  await using console = await openConsole({ settings: "permissions:\n  deny: ['Bash(rm *)']\n" });
  const { page, client, url } = console;
  const { id } = await client.sessions.create({ message: "run echo hello" });
  const [asked] = await client.approvals.list({ status: "pending", wait: 30 });
  await client.approvals.answer(asked?.id ?? "", { behavior: "allow", scope: "session", rules: ["Bash(echo *)"] });
  await expect.poll(async () => (await client.sessions.get(id)).status).toBe("idle");

  await page.goto(`${url}/policy`);
  await page.getByText("session with the default agent").waitFor();
  await page.getByRole("definition").getByText("Bash(rm *)").waitFor();
  await page.getByLabel("Call").fill("Bash(ls && rm -rf build > out.txt)");
  await page.keyboard.press("Enter");
  const found = page.getByRole("status").filter({ hasText: "would be" });
  await found.getByText("denied", { exact: true }).waitFor();
  await found.getByText("rule:deny Bash(rm *)").waitFor();
  await page
    .getByRole("listitem")
    .filter({ hasText: /^rm -rf build$/ })
    .waitFor();
  expect(await page.getByRole("listitem").filter({ hasText: "deny rules: decided" }).count()).toBe(1);
  await page.getByLabel("Call").fill("Bash(npm test)");
  await page.getByLabel("Mode").selectOption("yolo");
  await page.getByRole("button", { name: "Explain" }).click();
  await found.getByText("mode:yolo").waitFor();
  await page.getByLabel("Mode").selectOption("normal");
  await page.getByRole("button", { name: "Explain" }).click();
  await page.getByRole("heading", { name: "Rules that a remembered answer would save" }).waitFor();
  await page.getByText("Bash(npm test)", { exact: true }).last().waitFor();
  await page.getByLabel("Call").fill("Bsh(npm test)");
  await page.getByRole("button", { name: "Explain" }).click();
  await page.getByRole("alert").getByText("Did you mean Bash?").waitFor();
  expect(await seriousBarriers(page)).toEqual([]);

  await page.getByRole("tab", { name: "What if" }).click();
  await page.getByLabel("deny").fill("Bsh(echo *)");
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByText("Bsh").last().waitFor();
  await expect.poll(() => page.getByLabel("deny").getAttribute("aria-invalid")).toBe("true");
  await page.getByRole("button", { name: "Start with its rules" }).click();
  expect(await page.getByLabel("deny").inputValue()).toBe("Bash(rm *)");
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByText("None of 1 decision would change").waitFor();
  await page.getByLabel("deny").fill("Bash(echo *)");
  await page.getByLabel("Session").fill(id);
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByText("1 of 1 decision would change").waitFor();
  const row = page.getByRole("region", { name: "Decisions" }).getByRole("row").last();
  expect((await row.innerText()).replaceAll(/\s+/g, " ")).toMatch(
    /echo hello.*needs approval.*denied.*rule:deny Bash\(echo \*\)/,
  );
  expect(await seriousBarriers(page)).toEqual([]);

  await page.getByRole("tab", { name: "Grants" }).click();
  await page.getByRole("button", { name: "Revoke Bash(echo *)" }).click();
  await page.getByRole("dialog", { name: "Revoke this grant?" }).getByRole("button", { name: "Cancel" }).click();
  expect(await client.grants.list()).toHaveLength(1);

  const operator = await console.visitor("operator");
  await operator.goto(`${url}/policy?tab=grants`);
  await operator.getByText("You can revoke the answers you gave; admins can revoke any.").waitFor();
  expect(await operator.getByRole("button", { name: /Revoke/ }).count()).toBe(0);
  const viewer = await console.visitor("viewer");
  await viewer.goto(`${url}/policy`);
  await viewer.getByText("This requires the operator role.").waitFor();
  expect(await viewer.getByRole("button", { name: "Explain" }).isDisabled()).toBe(true);

  expect(await seriousBarriers(page)).toEqual([]);
  await page.getByRole("button", { name: "Revoke Bash(echo *)" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByText("No remembered answers").waitFor();
  expect(await client.grants.list()).toEqual([]);
  await page.setViewportSize({ width: 360, height: 740 });
  for (const place of ["/policy", "/policy?tab=what-if", "/policy?tab=grants"]) {
    await page.goto(`${url}${place}`);
    await page.getByRole("tab", { name: "Grants" }).waitFor();
    expect(await isTooWide(page), place).toBe(false);
  }
  expect(console.complaints).toEqual([]);
});
