import { type Mode, MODES } from "../../../core/agent/agent-definition.ts";
import { ENGINES, knownEngine, unknownEngine } from "../../../core/agent/engine-name.ts";
import { nearest } from "../../../core/text/nearest.ts";
import { costText } from "../../follow/cost.ts";
import { usageError } from "../../terminal/failure.ts";
import { count, money } from "../../terminal/text.ts";
import type { ChatCommand, Room } from "./command.ts";
import { promptTokens } from "../view/meter.ts";
import { contextWindow } from "../view/status.ts";

const ABOUT: Readonly<Record<Mode, string>> = {
  normal: "asks unless a rule allows it",
  "accept-edits": "edits files in the workspace without asking",
  "read-only": "only reads",
  plan: "only reads, and asks before carrying out a plan",
  yolo: "asks only if a rule says so",
};

/** Commands about mode, model, engine and cost. */
export const MODEL_COMMANDS: readonly ChatCommand[] = [
  { name: "mode", words: `[${MODES.join("|")}]`, about: "show or change the permission mode", run: mode },
  { name: "model", words: "[MODEL]", about: "show or change the model", run: model },
  { name: "engine", words: `[${ENGINES.join("|")}]`, about: "show or change the engine", run: engine },
  { name: "cost", about: "show what the session has used", run: showCost },
];

async function mode(room: Room, words: string): Promise<void> {
  const { chat } = room;
  const wanted =
    words ||
    (await room.choose(
      `Current mode: ${chat.mode}. Which one?`,
      MODES.map((value) => ({ value, label: value, hint: ABOUT[value] })),
      "/mode plan",
    ));
  if (wanted === undefined) return;
  const known = MODES.find((one) => one === wanted);
  if (known === undefined) throw usageError(`Unknown mode ${wanted}.${suggestion(wanted)} Modes: ${MODES.join(", ")}.`);
  if (known === chat.mode) return chat.page.quiet(`Mode is already ${known}.`);
  await (await chat.require()).setMode(known);
}

/** Names the nearest known mode. */
function suggestion(wanted: string): string {
  const close = nearest(wanted, MODES);
  return close === undefined ? "" : ` Did you mean ${close}?`;
}

async function model({ chat }: Room, words: string): Promise<void> {
  if (words === "") return chat.page.note(`Current model: ${chat.model}. To change it: /model NAME`);
  await (await chat.require()).setModel(words);
}

async function engine({ chat }: Room, words: string): Promise<void> {
  if (words === "") {
    const others = ENGINES.filter((name) => name !== chat.engine);
    return chat.page.note(
      `Current engine: ${chat.engine}. To change it: ${others.map((name) => `/engine ${name}`).join(" or ")}`,
    );
  }
  const known = knownEngine(words);
  if (known === undefined) throw usageError(`${unknownEngine(words)}.`);
  if (known === chat.engine) return chat.page.quiet(`Engine is already ${known}.`);
  await (await chat.require()).setEngine(known);
}

function showCost({ chat }: Room): void {
  const { usage: used, requests, spent, context } = chat.view.meter;
  const read = promptTokens(used);
  const cached = read === 0 ? 0 : Math.round((100 * used.cache_read_input_tokens) / read);
  const limit = chat.maxUsd === undefined ? "" : ` of ${money(chat.maxUsd)}`;
  const window = contextWindow(chat.model);
  chat.page.note(
    [
      `${costText(spent)}${limit} in ${count(requests)} ${requests === 1 ? "model request" : "model requests"}`,
      `tokens: ${count(read)} in (${cached}% from the cache), ${count(used.output_tokens)} out`,
      ...(context === undefined ? [] : [`context: ${count(context)} of ${count(window)} tokens`]),
    ].join("\n"),
  );
}
