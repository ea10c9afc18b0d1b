import { describe, expect, test } from "vitest";
import { CapstanError, ERROR_CODES, type ErrorCode, messageOf } from "../../src/core/errors.ts";

const codes = Object.keys(ERROR_CODES) as ErrorCode[];

describe("an error", () => {
  test.each(codes)("with the code %s ends a command with its exit code, between 1 and 5", (code) => {
    const { exitCode } = new CapstanError(code, "");
    expect(exitCode).toBe(ERROR_CODES[code]);
    expect([1, 2, 3, 4, 5]).toContain(exitCode);
  });

  test("carries its code, facts and cause", () => {
    const cause = new Error("disk");
    const error = new CapstanError("store_failed", "Free some space.", { data: { free: 0 }, retryable: true, cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "CapstanError",
      code: "store_failed",
      message: "Free some space.",
      data: { free: 0 },
      retryable: true,
      cause,
    });
    expect(String(error)).toBe("CapstanError: Free some space.");
  });

  test("is final and has no facts or cause unless it says so", () => {
    const error = new CapstanError("invalid_input", "No.");
    expect(error).toMatchObject({ retryable: false, data: {} });
    expect("cause" in error).toBe(false);
  });
});

describe("the message of something thrown", () => {
  test.each<[string, unknown, string]>([
    ["an error", new TypeError("no"), "no"],
    ["a string", "no", "no"],
    ["nothing", undefined, "undefined"],
    ["a symbol", Symbol("no"), "Symbol(no)"],
    ["an object that has no text", Object.create(null), "an error without a message"],
  ])("is found for %s", (_what, thrown, message) => {
    expect(messageOf(thrown)).toBe(message);
  });
});
