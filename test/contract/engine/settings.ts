import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testHost } from "../../support/host.ts";
import { apiError, type ModelRequest, say, toolUse } from "../../support/scripted-model.ts";
import { sharedSession } from "../../support/shared-session.ts";
import { type Stage, steps } from "./stage.ts";

const SKILL = "---\nname: greeting\ndescription: How to greet people.\n---\nAlways say AHOY.";
const SKILLS = { greeting: { files: { "SKILL.md": { content: SKILL, encoding: "utf8" as const } } } };
const FALLBACK = "claude-sonnet-4-5";
const told = ({ body }: ModelRequest): string => JSON.stringify([body.system, body.messages]);

/** Fields of an agent that change what the model is asked. */
export function settings(stage: Stage): void {
  const shared = sharedSession((t) => {
    writeFileSync(join(t.cwd, "CLAUDE.md"), "House rule: use METRIC units.\n");
    return stage.agent({
      ...(stage.has("thinking") && { thinking: "adaptive" }),
      ...(stage.has("effort") && { effort: "low" }),
      ...(stage.has("skills") && { skills: SKILLS }),
      ...(stage.has("project_file") && { setting_sources: ["project"] }),
      ...(stage.has("engine_prompt") && { instructions_mode: "append" }),
    });
  });

  stage.capability(
    "thinking",
    () =>
      test("is asked of the model", async () => {
        const { session, requests } = await shared(() => say("ok"));
        await session.send("Hello.").result();
        expect(requests().at(-1)?.body.thinking).toMatchObject({ type: "adaptive" });
      }),
    stage.expectRefusal({ agent: { thinking: "adaptive" } }),
  );

  stage.capability(
    "effort",
    () =>
      test("is asked of the model", async () => {
        const { session, requests } = await shared(() => say("ok"));
        await session.send("Hello.").result();
        expect(requests().at(-1)?.body).toMatchObject({ output_config: { effort: "low" } });
      }),
    stage.expectRefusal({ agent: { effort: "low" } }),
  );

  stage.capability(
    "skills",
    () =>
      test("are named to the model, which reads one with a call", async () => {
        const { session, requests } = await shared(steps({ blocks: [toolUse("Skill", { skill: "agent:greeting" })] }));
        await session.send("Greet.").result();
        expect(told(requests()[0] ?? failUnasked())).toContain("How to greet people.");
        expect(told(requests()[1] ?? failUnasked())).toContain("Always say AHOY.");
      }),
    stage.expectRefusal({ agent: { skills: SKILLS } }),
  );

  stage.capability(
    "project_file",
    () =>
      test("is told to the model", async () => {
        const { session, requests } = await shared(() => say("ok"));
        await session.send("Hello.").result();
        expect(told(requests().at(-1) ?? failUnasked())).toContain("use METRIC units");
      }),
    stage.expectRefusal({ agent: { setting_sources: ["project"] } }),
  );

  stage.capability(
    "engine_prompt",
    () =>
      test("stands before the instructions", async () => {
        const { session, requests } = await shared(() => say("ok"));
        await session.send("Hello.").result();
        const system = JSON.stringify(requests().at(-1)?.body.system);
        expect(system.indexOf("You are a test agent.")).toBeGreaterThan(1_000);
      }),
    stage.expectRefusal({ agent: { instructions_mode: "append" } }),
  );

  stage.capability(
    "fallback_model",
    () =>
      test("is asked when the model is overloaded", async () => {
        await using t = await testHost(({ body }) =>
          body.model === FALLBACK ? say("from the other") : apiError(529, "overloaded_error", "overloaded"),
        );
        const session = await t.host.startSession({ agent: stage.agent({ fallback_model: FALLBACK }), cwd: t.cwd });
        expect((await session.send("Hello.").result()).text).toBe("from the other");
      }),
    stage.expectRefusal({ agent: { fallback_model: FALLBACK } }),
  );
}

function failUnasked(): never {
  throw new Error("The model was not asked.");
}
