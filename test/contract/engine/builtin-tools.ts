import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CapabilityName } from "../../../src/core/ports/engine-capabilities.ts";
import { ofType } from "../../support/host.ts";
import {
  apiError,
  type ModelRequest,
  type Reply,
  say,
  type Script,
  text,
  toolUse,
} from "../../support/scripted-model.ts";
import { sharedSession } from "../../support/shared-session.ts";
import { type Stage, steps } from "./stage.ts";

const OPTIONAL: Partial<Record<CapabilityName, readonly string[]>> = {
  tasks: ["TaskCreate", "TaskList"],
  web_fetch: ["WebFetch"],
  web_search: ["WebSearch"],
  notebooks: ["NotebookEdit"],
};

/** Web tools may ask a model of their own to read what they found. */
const isOwn = ({ body }: ModelRequest): boolean => body.tools?.some(({ name }) => name === "Bash") === true;
const bash = (command: string): Reply => ({ blocks: [toolUse("Bash", { command })] });
const setThenShow = (): Script =>
  steps(bash("mkdir -p deep && cd deep && export COLOUR=blue"), bash('pwd; echo "[$COLOUR]"'));

/** The tools that an engine may have or not, in one session of an agent that may do everything. */
export function builtinTools(stage: Stage): void {
  const tools = Object.entries(OPTIONAL).flatMap(([name, list]) => (stage.has(name as CapabilityName) ? list : []));
  const shared = sharedSession(() => stage.agent({ tools: ["Bash", "Read", ...tools], permissions: { mode: "yolo" } }));
  // WebFetch does not reach this machine unless its settings name it.
  const online = sharedSession(() => stage.agent({ tools: ["Bash", "WebFetch"], permissions: { mode: "yolo" } }), {
    environment: { sandbox: { mode: "preferred", network: { allow: ["127.0.0.1"] } } },
  });
  const refusal = (tool: string) => stage.expectRefusal({ agent: { tools: [tool] } });
  stage.capability(
    "shell_state",
    () =>
      test("the directory of one command is there for the next, its variables are not", async () => {
        const { t, session, requests } = await shared(setThenShow());
        await session.send("Set it.").result();
        expect(requests()[2]?.toolResults[0]?.text.trim()).toBe(`${join(t.cwd, "deep")}\n[]`);
      }),
    async () => {
      const { t, session, requests } = await shared(setThenShow());
      await session.send("Set it.").result();
      expect(requests()[2]?.toolResults[0]?.text.trim()).toBe(`${t.cwd}\n[]`);
    },
  );

  stage.capability(
    "tasks",
    () =>
      test("are kept from one call to the next", async () => {
        const task = { subject: "Paint the fence", description: "Paint all of it blue." };
        const { session, requests } = await shared(
          steps({ blocks: [toolUse("TaskCreate", task)] }, { blocks: [toolUse("TaskList", {})] }),
        );
        await session.send("Plan.").result();
        expect(requests()[2]?.toolResults).toMatchObject([
          { isError: false, text: expect.stringContaining("Paint the fence") },
        ]);
      }),
    refusal("TaskCreate"),
  );

  stage.capability(
    "web_fetch",
    () =>
      test("goes to the address that it was given, and tells the model what came of it", async () => {
        let connections = 0;
        const server = createServer((socket) => {
          connections += 1;
          socket.on("error", () => {});
          socket.end("HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello");
        }).listen(0, "127.0.0.1");
        await once(server, "listening");
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/page`;
        const next = steps({ blocks: [toolUse("WebFetch", { url, prompt: "What does it say?" })] });
        const { session, events } = await online((request) => (isOwn(request) ? next(request) : say("It says hello.")));
        await session.send("Fetch it.").result();
        server.close();
        expect(connections).toBeGreaterThan(0);
        const [result] = ofType(await events(), "agent.tool_result");
        expect(["completed", "failed"]).toContain(result?.outcome);
        expect(JSON.stringify(result?.content)).toMatch(/\w{3}/);
      }),
    refusal("WebFetch"),
  );

  stage.capability(
    "web_search",
    () => {
      test("asks the model API to search", async () => {
        const next = steps({ blocks: [toolUse("WebSearch", { query: "capstan winches" })] });
        const { session, events, requests } = await shared((request) =>
          isOwn(request) ? next(request) : say("None."),
        );
        await session.send("Search.").result();
        const searching = requests().filter(({ body }) => body.tools?.some(({ name }) => name === "web_search"));
        expect(searching.length).toBeGreaterThan(0);
        expect(searching[0]?.transcript).toContain("capstan winches");
        expect(ofType(await events(), "agent.tool_result")).toMatchObject([{ outcome: "completed" }]);
      });

      test("tells the model what was found, with links, and is counted as a request of its session", async () => {
        const next = steps({
          blocks: [toolUse("WebSearch", { query: "capstan winches", allowed_domains: ["winches.example"] })],
        });
        const page = { type: "web_search_result", title: "Winches", url: "https://winches.example/a" };
        const search: Reply = {
          blocks: [
            { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [page] },
            text("Winches pull."),
          ],
          stopReason: "end_turn",
          usage: { server_tool_use: { web_search_requests: 1 } },
        };
        const { session, events, requests } = await shared((request) => (isOwn(request) ? next(request) : search));
        await session.send("Search.").result();
        const [asked] = requests().filter(({ body }) => body.tools?.some(({ name }) => name === "web_search"));
        expect(asked?.body.tools).toMatchObject([
          { type: expect.stringMatching(/^web_search_\d+$/) as string, allowed_domains: ["winches.example"] },
        ]);
        const told = requests().at(-1)?.toolResults[0];
        expect(told).toMatchObject({ isError: false });
        for (const part of ["capstan winches", "https://winches.example/a", "Winches pull."])
          expect(told?.text).toContain(part);
        const spans = ofType(await events(), "span.model_request_end");
        expect(spans.filter(({ model_usage: usage }) => usage.web_search_requests === 1)).toHaveLength(1);
        const [usage] = ofType(await events(), "session.usage").slice(-1);
        const counted = Object.values(usage?.usage.engine ?? {}).reduce((sum, { usd }) => sum + usd, 0);
        expect(counted).toBeCloseTo(
          spans.reduce((sum, { usd }) => sum + (usd ?? 0), 0),
          10,
        );
      });

      test("that the model API refuses is a failed call, and the turn goes on", async () => {
        const next = steps({ blocks: [toolUse("WebSearch", { query: "capstan winches" })] }, say("I will do without."));
        const { session, requests } = await shared((request) =>
          isOwn(request)
            ? next(request)
            : apiError(400, "invalid_request_error", "tools.0: web_search_20250305 is not supported"),
        );
        expect((await session.send("Search.").result()).text).toBe("I will do without.");
        expect(requests().at(-1)?.toolResults).toMatchObject([{ isError: true }]);
      });
    },
    refusal("WebSearch"),
  );

  stage.capability(
    "notebooks",
    () =>
      test("edits a cell of a notebook that it has read", async () => {
        const { t, session, events } = await shared(() => say("not yet"));
        const path = join(t.cwd, "sums.ipynb");
        const cell = {
          cell_type: "code",
          id: "one",
          metadata: {},
          outputs: [],
          execution_count: null,
          source: "1 + 1",
        };
        writeFileSync(path, JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 }));
        t.model.script = steps(
          { blocks: [toolUse("Read", { file_path: path })] },
          { blocks: [toolUse("NotebookEdit", { notebook_path: path, cell_id: "one", new_source: "2 + 2" })] },
        );
        await session.send("Edit it.").result();
        expect(ofType(await events(), "agent.tool_result").map(({ outcome }) => outcome)).toEqual([
          "completed",
          "completed",
        ]);
        expect(readFileSync(path, "utf8")).toContain("2 + 2");
      }),
    refusal("NotebookEdit"),
  );
}
