import { expect, test } from "vitest";
import { ofType, testHost } from "../../support/host.ts";
import { everythingRemote } from "../../support/mcp-everything.ts";
import { office } from "../../support/office.ts";
import { say, toolUse } from "../../support/scripted-model.ts";
import type { Desks } from "./desks.ts";
import { ME } from "./people.ts";
import { waitUntilEnded, type Stage, steps, waiting } from "./stage.ts";

const REMOTE = { type: "http", url: "http://127.0.0.1:9/mcp" } as const;

const act = (what: string) => toolUse("mcp__office__act", { what }, `toolu_${what}`);

export function servers(stage: Stage, { asking: shared }: Desks): void {
  stage.capability(
    "mcp_programs",
    () =>
      test("have tools that are decided about like all others, whatever they say of themselves", async () => {
        const { t, session, events, requests } = await shared(steps({ blocks: [act("sweep"), act("burn")] }));
        await session.send("Act.").result();
        // Together or one after the other: an engine may run a call before it asks about the next.
        for (const _ of ["sweep", "burn"]) {
          const [asked] = await waiting(t.host, session);
          const behavior = asked?.request.call_id === "toolu_sweep" ? "allow" : "deny";
          await t.host.approvals.answer(asked?.id ?? "", { behavior }, ME);
        }
        await waitUntilEnded(session);
        expect(office(t.home).listDone()).toEqual(["sweep"]);
        expect(ofType(await events(), "agent.mcp_tool_use")).toMatchObject([
          { name: "act", engine_name: "mcp__office__act", mcp_server_name: "office", input: { what: "sweep" } },
          { input: { what: "burn" } },
        ]);
        const results = ofType(await events(), "agent.mcp_tool_result");
        expect(Object.fromEntries(results.map(({ call_id: id, outcome }) => [id, outcome]))).toEqual({
          toolu_sweep: "completed",
          toolu_burn: "denied",
        });
        const told = requests()
          .at(-1)
          ?.toolResults.find(({ id }) => id === "toolu_sweep");
        expect(told).toMatchObject({ text: "acted: sweep", isError: false });
      }),
    stage.expectRefusal({ agent: { mcp_servers: { office: { command: process.execPath } } } }),
  );

  stage.capability(
    "elicitation",
    () =>
      test("are in the inbox, and the answer reaches the server", async () => {
        const { t, session, requests } = await shared(steps({ blocks: [toolUse("mcp__office__book", {})] }));
        await session.send("Book.").result();
        const [asked] = await waiting(t.host, session);
        expect(asked?.request).toMatchObject({ kind: "question", asked_by: "server:office" });
        const answers = { room: "blue", people: "4", catering: "yes" };
        await t.host.approvals.answer(asked?.id ?? "", { behavior: "allow", answers }, ME);
        await waitUntilEnded(session);
        const told = requests().at(-1)?.toolResults[0]?.text ?? "";
        expect(JSON.parse(told)).toEqual({ action: "accept", content: { room: "blue", people: 4, catering: true } });
      }),
    async () => {
      const { session, requests } = await shared(steps({ blocks: [toolUse("mcp__office__book", {})] }));
      await session.send("Book.").result();
      expect(requests().at(-1)?.toolResults).toMatchObject([{ isError: true, text: expect.stringMatching(/elicit/i) }]);
    },
  );

  stage.capability(
    "mcp_remote",
    () =>
      test("have tools that reach the server behind the address", async () => {
        await using remote = await everythingRemote("http");
        await using t = await testHost(
          steps({ blocks: [toolUse("mcp__far__echo", { message: "hello" })] }, say("done")),
        );
        const permissions = { allow: ["mcp__far"] };
        const agent = stage.agent({ mcp_servers: { far: remote.server }, permissions });
        const session = await t.host.startSession({ agent, cwd: t.cwd });
        await session.send("Echo.").result();
        expect(t.model.requests.at(-1)?.toolResults).toMatchObject([
          { isError: false, text: expect.stringContaining("hello") },
        ]);
      }),
    stage.expectRefusal({ agent: { mcp_servers: { far: REMOTE } } }),
  );
}
