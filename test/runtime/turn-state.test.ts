import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../../src/core/events/events.ts";
import { initialState, type SessionState } from "../../src/core/session/state.ts";
import {
  COMMANDS,
  DRIVEN,
  FACTS,
  TURN_STATES,
  type TurnCommand,
  type TurnFact,
  TurnMachine,
  type TurnState,
  undrivenState,
} from "../../src/runtime/turn/turn-state.ts";

/** A row per state, a column per command: the next state, or `-` when the command is an error. */
const COMMAND_TABLE = `
                start     recover   revive    work     interrupt     limit    end     finish  hibernate   lose
  idle          starting  -         -         -        -             -        -       -       -           -
  starting      -         -         -         running  interrupting  limited  ending  idle    hibernated  abandoned
  running       -         -         -         -        interrupting  limited  ending  idle    hibernated  abandoned
  waiting       -         -         -         -        interrupting  limited  ending  idle    hibernated  abandoned
  held          -         -         -         -        interrupting  limited  ending  idle    hibernated  abandoned
  interrupting  -         -         -         -        -             -        ending  idle    hibernated  abandoned
  limited       -         -         -         -        interrupting  -        ending  idle    hibernated  abandoned
  ending        -         -         -         -        -             -        -       idle    hibernated  abandoned
  hibernated    -         -         starting  -        -             -        ending  -       -           abandoned
  abandoned     -         starting  -         -        -             -        ending  -       hibernated  -
`;

/** The same for facts of the log; `-` when the fact changes nothing. */
const FACT_TABLE = `
                wait        resume     hold
  idle          -           -          -
  starting      -           -          -
  running       waiting     -          held
  waiting       -           running    -
  held          -           running    -
  interrupting  -           -          -
  limited       -           -          -
  ending        -           -          -
  hibernated    -           abandoned  abandoned
  abandoned     hibernated  -          -
`;

const FACT_EVENTS: Record<TurnFact, object> = {
  wait: { type: "session.status_idle", stop_reason: { type: "requires_action", event_ids: ["sevt_1"] } },
  resume: { type: "session.status_running" },
  hold: { type: "session.status_rescheduled" },
};

function cells(table: string): { state: TurnState; name: string; to: string }[] {
  const [header = [], ...rows] = table
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  return rows.flatMap(([state = "", ...targets]) =>
    header.map((name, column) => ({ state: state as TurnState, name, to: targets[column] ?? "" })),
  );
}

test("the tables name every state, command and fact", () => {
  const states = Object.keys(TURN_STATES);
  for (const [table, names] of [
    [COMMAND_TABLE, Object.keys(COMMANDS)],
    [FACT_TABLE, Object.keys(FACTS)],
  ] as const) {
    const all = cells(table);
    expect(new Set(all.map(({ state }) => state))).toEqual(new Set(states));
    expect(new Set(all.map(({ name }) => name))).toEqual(new Set(names));
    expect(all).toHaveLength(states.length * names.length);
  }
});

describe("commands", () => {
  test.for(cells(COMMAND_TABLE))("$state, $name: $to", ({ state, name, to }) => {
    const command = name as TurnCommand;
    const machine = new TurnMachine(state);
    const entered: TurnState[] = [];
    machine.onChange((next) => entered.push(next));
    expect(machine.can(command)).toBe(to !== "-");
    if (to === "-") expect(() => machine.apply(command)).toThrow(`A turn that is ${state} cannot ${command}.`);
    else machine.apply(command);
    expect(machine.state).toBe(to === "-" ? state : to);
    expect(entered).toEqual(to === "-" ? [] : [to]);
  });
});

describe("facts", () => {
  test.for(cells(FACT_TABLE))("$state, $name: $to", ({ state, name, to }) => {
    const machine = new TurnMachine(state);
    machine.follow(FACT_EVENTS[name as TurnFact] as SessionEvent);
    expect(machine.state).toBe(to === "-" ? state : to);
  });

  test("the end of a turn in the log changes nothing by itself: whoever writes it lets go of the turn", () => {
    const machine = new TurnMachine("ending");
    machine.follow({ type: "session.status_idle", stop_reason: { type: "end_turn" } } as SessionEvent);
    expect(machine.state).toBe("ending");
  });
});

test.for([
  ["idle", initialState],
  ["abandoned", { ...initialState, status: "running" }],
  ["abandoned", { ...initialState, status: "rescheduling" }],
  ["hibernated", { ...initialState, stopReason: { type: "requires_action", event_ids: [] } }],
  ["idle", { ...initialState, stopReason: { type: "end_turn" } }],
] satisfies [TurnState, SessionState][])("a host that opens a session finds its turn %s", ([expected, state]) => {
  expect(undrivenState(state)).toBe(expected);
});

test("docs/architecture.md draws every transition and no other", () => {
  const page = readFileSync("docs/architecture.md", "utf8");
  const [, diagram = ""] = /## The life of a turn\n[\s\S]*?```mermaid\nstateDiagram-v2\n([\s\S]*?)```/.exec(page) ?? [];
  const drawn = [...diagram.matchAll(/^ +(\w+) --> (\w+): (\w+)$/gm)].flatMap(([, from = "", to, name]) =>
    (from === "driven" ? DRIVEN : [from]).map((state) => `${state} --> ${to}: ${name}`),
  );
  const known = Object.entries({ ...COMMANDS, ...FACTS }).flatMap(([name, moves]) =>
    Object.entries(moves).map(([from, to]) => `${from} --> ${to}: ${name}`),
  );
  expect(drawn.toSorted()).toEqual(known.toSorted());
  const [, box = ""] = /state "[^"]+" as driven \{\n([\s\S]*?)\n {2}\}/.exec(diagram) ?? [];
  expect([...new Set(box.match(/\b(?:starting|running|waiting|held|interrupting|limited)\b/g))].toSorted()).toEqual(
    DRIVEN.toSorted(),
  );
});

test("docs/architecture.md explains every state", () => {
  const page = readFileSync("docs/architecture.md", "utf8");
  for (const [state, meaning] of Object.entries(TURN_STATES)) expect(page).toContain(`| \`${state}\` | ${meaning} |`);
});
