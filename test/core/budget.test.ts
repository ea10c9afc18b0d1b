import { describe, expect, test } from "vitest";
import type { Budget } from "../../src/core/agent/agent-definition.ts";
import {
  budgetLeft,
  type LimitHit,
  limitOnModelRequest,
  limitOnToolCall,
  limitOnTurn,
  tokensOf,
} from "../../src/core/session/session-limits.ts";
import { initialState, type SessionState } from "../../src/core/session/state.ts";

const usage = {
  input_tokens: 1000,
  output_tokens: 200,
  cache_read_input_tokens: 30,
  cache_creation_input_tokens: 4,
};
const spent: SessionState = { ...initialState, turns: 3, toolCalls: 5, usage, usd: 0.5 };

test("tokens are those of input, output and cache together", () => {
  expect(tokensOf(spent)).toBe(1234);
});

describe("a limit", () => {
  type Case = [string, (budget: Budget, state: SessionState) => LimitHit | undefined, Budget, LimitHit | undefined];
  test.each<Case>([
    ["that is not set stops no model request", limitOnModelRequest, {}, undefined],
    ["with room left stops no model request", limitOnModelRequest, { usd: 0.51, tokens: 1235 }, undefined],
    [
      "in USD stops a model request once it is spent",
      limitOnModelRequest,
      { usd: 0.5 },
      { which: "usd", limit: 0.5, spent: 0.5 },
    ],
    [
      "in tokens stops a model request once it is spent",
      limitOnModelRequest,
      { tokens: 1234 },
      { which: "tokens", limit: 1234, spent: 1234 },
    ],
    [
      "in USD is named before one in tokens",
      limitOnModelRequest,
      { tokens: 1, usd: 0.1 },
      { which: "usd", limit: 0.1, spent: 0.5 },
    ],
    ["on turns or calls stops no model request", limitOnModelRequest, { turns: 1, tool_calls: 1 }, undefined],
    ["on turns lets the last turn begin", limitOnTurn, { turns: 4 }, undefined],
    ["on turns stops the turn after the last", limitOnTurn, { turns: 3 }, { which: "turns", limit: 3, spent: 3 }],
    ["in USD stops a turn", limitOnTurn, { turns: 4, usd: 0.4 }, { which: "usd", limit: 0.4, spent: 0.5 }],
    ["on calls stops no turn", limitOnTurn, { tool_calls: 1 }, undefined],
    ["on calls lets the last call run", limitOnToolCall, { tool_calls: 6 }, undefined],
    [
      "on calls stops the call after the last",
      limitOnToolCall,
      { tool_calls: 5 },
      { which: "tool_calls", limit: 5, spent: 5 },
    ],
    [
      "in tokens stops a call",
      limitOnToolCall,
      { tool_calls: 6, tokens: 1000 },
      { which: "tokens", limit: 1000, spent: 1234 },
    ],
    ["on turns stops no call", limitOnToolCall, { turns: 1 }, undefined],
    ["of one turn is not for the session to reach", limitOnTurn, { steps: 1, deadline_ms: 1 }, undefined],
  ])("%s", (_what, limitOn, budget, hit) => {
    expect(limitOn(budget, spent)).toEqual(hit);
  });
});

describe("what is left of a budget", () => {
  test.each<[string, Budget, ReturnType<typeof budgetLeft>]>([
    ["is nothing to speak of when no limit is set", {}, {}],
    ["leaves out limits that a tool cannot use up", { turns: 9, deadline_ms: 9 }, {}],
    ["is the rest of each limit", { usd: 2, tokens: 2000, tool_calls: 7 }, { usd: 1.5, tokens: 766, toolCalls: 2 }],
    ["is never below zero", { usd: 0.1, tokens: 1, tool_calls: 1 }, { usd: 0, tokens: 0, toolCalls: 0 }],
  ])("%s", (_what, budget, left) => {
    expect(budgetLeft(budget, spent)).toEqual(left);
  });
});
