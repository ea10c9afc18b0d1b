import { expect, test } from "vitest";
import { ofType } from "../../support/host.ts";
import { call, say } from "../../support/scripted-model.ts";
import { sharedSession } from "../../support/shared-session.ts";
import { type Stage, steps } from "./stage.ts";

const CITY = {
  type: "object",
  properties: { city: { type: "string" }, people: { type: "integer" } },
  required: ["city", "people"],
};
const BERGEN = { city: "Bergen", people: 291_940 };

export function output(stage: Stage): void {
  stage.capability(
    "structured_output",
    () => {
      const shared = sharedSession(() => stage.agent({ output_schema: CITY }));

      test("is asked for with the schema, and is in the result and the log", async () => {
        const { session, events, requests } = await shared(steps(call("StructuredOutput", BERGEN)));
        expect((await session.send("Which city?").result()).output).toEqual(BERGEN);
        const tool = requests()[0]?.body.tools?.find(({ name }) => name === "StructuredOutput");
        expect(tool?.input_schema).toMatchObject({ properties: CITY.properties, required: CITY.required });
        expect(ofType(await events(), "session.status_idle")).toMatchObject([{ output: BERGEN }]);
      });

      test("that does not match is told to the model, which may mend it", async () => {
        const { session, requests } = await shared(
          steps(call("StructuredOutput", { city: "Bergen", people: "many" }), call("StructuredOutput", BERGEN)),
        );
        expect((await session.send("Which city?").result()).output).toEqual(BERGEN);
        expect(requests()[1]?.toolResults).toMatchObject([{ isError: true, text: expect.stringContaining("people") }]);
      });

      test("that never comes is a failed turn, and the session continues", async () => {
        const { session, events } = await shared(() => say("I would rather not."));
        await expect(session.send("Which city?").result()).rejects.toMatchObject({ code: "output_invalid" });
        const [idle] = ofType(await events(), "session.status_idle");
        expect(idle).toMatchObject({ stop_reason: { type: "retries_exhausted" } });
        expect(idle?.output).toBeUndefined();
        const again = await shared(steps(call("StructuredOutput", BERGEN)));
        expect((await again.session.send("Which city?").result()).output).toEqual(BERGEN);
      });
    },
    stage.expectRefusal({ agent: { output_schema: CITY } }),
  );
}
