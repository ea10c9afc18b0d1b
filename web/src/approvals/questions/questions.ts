import type { WireApproval } from "../../../../src/client/index.ts";

type Request = WireApproval["request"];

/** One question: from the agent, or a field of an MCP server's form. */
export interface Asked {
  /** The key of its answer. */
  readonly name: string;
  /** The text that a person reads. */
  readonly label: string;
  readonly about?: string;
  readonly type: "text" | "number" | "boolean" | "choice";
  readonly options: readonly { readonly value: string; readonly label: string; readonly about?: string }[];
  readonly several: boolean;
  readonly required: boolean;
  /** Whether a free-text answer and a note are possible besides the options. */
  readonly isOpen: boolean;
  /** The format of a text: `email`, `date`, … */
  readonly format?: string;
  readonly initial: string;
}

/** What a person has entered for a question. */
export interface Filled {
  readonly chosen: readonly string[];
  /** Undefined while "other" is not chosen. */
  readonly words: string | undefined;
  readonly note: string;
}

export function askedIn(request: Request): readonly Asked[] {
  return request.server === undefined ? questionsIn(request.input) : fieldsIn(request.input);
}

/** The model wrote it, so it is parsed leniently: an odd question is still a question. */
function questionsIn({ questions }: Request["input"]): readonly Asked[] {
  return listOf(questions).flatMap((entry): Asked[] => {
    const name = textOf(entry["question"]);
    if (name === undefined) return [];
    const options = listOf(entry["options"]).flatMap((option) => {
      const label = textOf(option["label"]);
      return label === undefined ? [] : [{ value: label, label, ...descriptionOf(option["description"]) }];
    });
    return [
      {
        name,
        label: name,
        ...descriptionOf(entry["header"]),
        type: options.length > 0 ? "choice" : "text",
        options,
        several: entry["multiSelect"] === true,
        required: true,
        isOpen: true,
        initial: "",
      },
    ];
  });
}

function fieldsIn({ requested_schema }: Request["input"]): readonly Asked[] {
  const { properties, required } = recordOf(requested_schema);
  const needed = Array.isArray(required) ? (required as unknown[]) : [];
  return Object.entries(recordOf(properties)).map(([name, given]): Asked => {
    const field = recordOf(given);
    const type = textOf(field["type"]);
    const options = optionsOf(field);
    const isNumber = type === "number" || type === "integer";
    const about = [textOf(field["description"]), boundsOf(field)].filter((text) => text !== undefined).join(" ");
    const format = textOf(field["format"]);
    return {
      name,
      label: textOf(field["title"]) ?? name,
      ...descriptionOf(about),
      type: type === "boolean" ? "boolean" : options.length > 0 ? "choice" : isNumber ? "number" : "text",
      options,
      several: type === "array",
      required: needed.includes(name),
      isOpen: false,
      ...(format !== undefined && { format }),
      initial: initialOf(field["default"]),
    };
  });
}

function optionsOf(field: Readonly<Record<string, unknown>>): Asked["options"] {
  const items = recordOf(field["items"]);
  const plain = [field["enum"], items["enum"]].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  const titled = [field["oneOf"], items["oneOf"], items["anyOf"]].flatMap(listOf);
  return [
    ...plain.flatMap((value) => (typeof value === "string" ? [{ value, label: value }] : [])),
    ...titled.flatMap((one) => {
      const value = textOf(one["const"]);
      return value === undefined ? [] : [{ value, label: textOf(one["title"]) ?? value }];
    }),
  ];
}

function boundsOf({ type, minimum, maximum }: Readonly<Record<string, unknown>>): string | undefined {
  const whole = type === "integer" ? "A whole number" : type === "number" ? "A number" : undefined;
  if (whole === undefined) return undefined;
  const least = typeof minimum === "number" ? ` from ${minimum}` : "";
  const most = typeof maximum === "number" ? ` up to ${maximum}` : "";
  return `${whole}${least}${most}.`;
}

function initialOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

export function emptyFor(asked: Asked): Filled {
  const chosen = asked.several ? asked.initial.split(", ") : [asked.initial];
  const known = chosen.filter((value) => asked.options.some((option) => option.value === value));
  return asked.type === "choice"
    ? { chosen: known, words: undefined, note: "" }
    : { chosen: [], words: asked.initial, note: "" };
}

/** The answer to send; multiple choices are separated by commas. */
function answerOf({ chosen, words }: Filled): string {
  return [...chosen, ...(words === undefined || words.trim() === "" ? [] : [words.trim()])].join(", ");
}

/** What is wrong with an answer. The MCP server reports what only it can check. */
export function problemWith(asked: Asked, filled: Filled): string | undefined {
  const answer = answerOf(filled);
  if (filled.words !== undefined && filled.words.trim() === "" && asked.type === "choice")
    return "Write your own answer, or choose one of the others.";
  if (answer === "") return asked.required ? "An answer is required." : undefined;
  if (asked.type === "number" && !Number.isFinite(Number(answer))) return "Enter a number.";
  return undefined;
}

export interface Answers {
  readonly answers: Readonly<Record<string, string>>;
  readonly notes?: Readonly<Record<string, string>>;
}

/** Empty optional fields are not sent. */
export function answersOf(asked: readonly Asked[], filled: readonly Filled[]): Answers {
  const pairs = asked.map((one, index) => [one, filled[index] ?? emptyFor(one)] as const);
  const given = pairs.filter(([one, put]) => one.required || answerOf(put) !== "");
  const noted = pairs.filter(([, { note }]) => note.trim() !== "");
  return {
    answers: Object.fromEntries(given.map(([{ name }, put]) => [name, answerOf(put)])),
    ...(noted.length > 0 && { notes: Object.fromEntries(noted.map(([{ name }, { note }]) => [name, note.trim()])) }),
  };
}

function descriptionOf(value: unknown): { readonly about?: string } {
  return typeof value === "string" && value !== "" ? { about: value } : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? (value as unknown[]).map(recordOf) : [];
}
