import { useId, useState } from "react";
import { Field, Input, Select, TextArea } from "../../parts/form/field.tsx";
import type { Asked, Filled } from "./questions.ts";
import { escapeHidden } from "../../../../src/words/hidden-text.ts";

interface Props {
  readonly asked: Asked;
  readonly filled: Filled;
  readonly problem: string | undefined;
  readonly onChange: (filled: Filled) => void;
}

/** One question with a control that fits it. */
export function AskedField(props: Props) {
  const { asked } = props;
  return (
    <div data-asked className="flex flex-col gap-1">
      {asked.type === "choice" ? <Choices {...props} /> : <Written {...props} />}
      {asked.isOpen && <Note {...props} />}
    </div>
  );
}

function Choices({ asked, filled, problem, onChange }: Props) {
  const id = useId();
  const type = asked.several ? "checkbox" : "radio";
  const choose = (value: string, isOn: boolean): void => {
    if (!asked.several) return onChange({ ...filled, chosen: [value], words: undefined });
    const chosen = asked.options
      .map((option) => option.value)
      .filter((one) => (one === value ? isOn : filled.chosen.includes(one)));
    onChange({ ...filled, chosen });
  };
  const chooseOwn = (isOn: boolean): void =>
    onChange({ ...filled, chosen: asked.several ? filled.chosen : [], words: isOn ? (filled.words ?? "") : undefined });
  return (
    <fieldset aria-describedby={`${id}-about`} className="flex flex-col gap-1">
      <legend className="mb-1 font-medium [overflow-wrap:anywhere]">
        <span dir="auto">{escapeHidden(asked.label)}</span>
      </legend>
      <p id={`${id}-about`} className={problem === undefined ? "text-xs text-faint" : "text-xs text-bad"}>
        {problem ?? hintOf(asked)}
      </p>
      {asked.options.map((option) => (
        <Option
          key={option.value}
          type={type}
          name={id}
          label={option.label}
          about={option.about}
          isOn={filled.chosen.includes(option.value)}
          onChange={(isOn) => choose(option.value, isOn)}
        />
      ))}
      {asked.isOpen && (
        <Option
          type={type}
          name={id}
          label="Other"
          about="In your own words."
          isOn={filled.words !== undefined}
          onChange={chooseOwn}
        />
      )}
      {filled.words !== undefined && (
        <div className="pl-6">
          <Input
            aria-label={`Your own answer to: ${asked.label}`}
            dir="auto"
            className="max-md:h-10"
            value={filled.words}
            onChange={(event) => onChange({ ...filled, words: event.target.value })}
          />
        </div>
      )}
    </fieldset>
  );
}

function hintOf({ about, several, required }: Asked): string {
  const how = several ? "Choose any number." : required ? "Choose one." : "Optional.";
  return about === undefined ? how : `${escapeHidden(about)} · ${how}`;
}

function Option({
  type,
  name,
  label,
  about,
  isOn,
  onChange,
}: {
  readonly type: "radio" | "checkbox";
  readonly name: string;
  readonly label: string;
  readonly about: string | undefined;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}) {
  return (
    <label className="flex min-h-8 cursor-pointer items-start gap-2 rounded-md border border-line px-2 py-1.5 hover:border-line-strong has-checked:border-accent has-checked:bg-accent-soft max-md:min-h-11 max-md:items-center">
      <input
        type={type}
        name={name}
        checked={isOn}
        onChange={(event) => onChange(event.target.checked)}
        className="mt-0.5 size-4 shrink-0 accent-accent max-md:mt-0"
      />
      <span className="min-w-0 text-sm [overflow-wrap:anywhere]">
        <bdi className="font-medium">{escapeHidden(label)}</bdi>
        {about !== undefined && (
          <span dir="auto" className="block text-xs text-muted">
            {escapeHidden(about)}
          </span>
        )}
      </span>
    </label>
  );
}

function Written({ asked, filled, problem, onChange }: Props) {
  const words = filled.words ?? "";
  const set = (text: string): void => onChange({ ...filled, words: text });
  const hint = [asked.about, asked.required ? undefined : "Optional."].filter((text) => text !== undefined);
  return (
    <Field
      label={<span dir="auto">{escapeHidden(asked.label)}</span>}
      hint={hint.length === 0 ? undefined : escapeHidden(hint.join(" "))}
      problem={problem}
    >
      {asked.type === "boolean" ? (
        <Select className="max-md:h-10" value={words} onChange={(event) => set(event.target.value)}>
          <option value="">Choose…</option>
          <option value="true">Yes</option>
          <option value="false">No</option>
        </Select>
      ) : asked.isOpen ? (
        <TextArea rows={2} dir="auto" value={words} onChange={(event) => set(event.target.value)} />
      ) : (
        <Input
          type={asked.format === "date" ? "date" : asked.format === "email" ? "email" : "text"}
          inputMode={asked.type === "number" ? "decimal" : undefined}
          dir="auto"
          className="max-md:h-10"
          value={words}
          onChange={(event) => set(event.target.value)}
        />
      )}
    </Field>
  );
}

function Note({ asked, filled, onChange }: Props) {
  const [isOpen, setOpen] = useState(filled.note !== "");
  if (!isOpen)
    return (
      <button
        type="button"
        onClick={() => setOpen(true)}
        className="w-fit text-xs font-medium text-accent hover:underline max-md:min-h-10"
      >
        Add a note
      </button>
    );
  return (
    <Input
      aria-label={`Note on: ${asked.label}`}
      placeholder="Note for the agent"
      dir="auto"
      className="max-md:h-10"
      value={filled.note}
      onChange={(event) => onChange({ ...filled, note: event.target.value })}
    />
  );
}
