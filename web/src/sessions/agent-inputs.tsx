import type { SessionInput, WireAgent } from "../../../src/client/index.ts";
import { Field, Input, Select } from "../parts/form/field.tsx";
import { Card } from "../parts/page.tsx";

type Definitions = NonNullable<WireAgent["definition"]["inputs"]>;
type Values = NonNullable<SessionInput["inputs"]>;

/** The agent's inputs. Those with a default may be empty; the server validates the values. */
export function AgentInputs({
  inputs,
  values,
  onChange,
}: {
  readonly inputs: Definitions;
  readonly values: Values;
  readonly onChange: (values: Values) => void;
}) {
  return (
    <Card className="grid gap-4 p-4 sm:grid-cols-2">
      {Object.entries(inputs).map(([name, input]) => {
        const choices = input.type === "boolean" ? ["true", "false"] : "enum" in input ? input.enum : undefined;
        const set = (text: string): void => {
          const { [name]: _before, ...rest } = values;
          onChange(text === "" ? rest : { ...rest, [name]: text });
        };
        const shared = {
          required: input.default === undefined,
          value: String(values[name] ?? ""),
        };
        const otherwise = input.default === undefined ? "Choose…" : `Default: ${String(input.default)}`;
        return (
          <Field key={name} label={name} hint={input.description}>
            {choices === undefined ? (
              <Input
                {...shared}
                dir="auto"
                inputMode={input.type === "string" ? "text" : "decimal"}
                placeholder={input.default === undefined ? "" : otherwise}
                onChange={(event) => set(event.target.value)}
              />
            ) : (
              <Select {...shared} onChange={(event) => set(event.target.value)}>
                <option value="">{otherwise}</option>
                {choices.map((choice) => (
                  <option key={choice}>{choice}</option>
                ))}
              </Select>
            )}
          </Field>
        );
      })}
    </Card>
  );
}
