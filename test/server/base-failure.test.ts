import { expect, test } from "vitest";
import { CapstanError, type ErrorCode } from "../../src/core/errors.ts";
import { ApiFailure, asApiFailure } from "../../src/server/http/failure.ts";

test.for<[ErrorCode, number]>([
  ["model_unknown", 400],
  ["limit_reached", 400],
  ["credential_rejected", 400],
  ["session_archived", 400],
])("%s is the caller's error and is not retried: %d", ([code, status]) => {
  expect(asApiFailure(new CapstanError(code, "No."))).toMatchObject({ status, message: "No." });
});

test.for<ErrorCode>(["store_locked", "store_corrupt", "store_newer", "store_full", "store_failed"])(
  "%s reveals none of the server's files to callers",
  (code) => {
    const failure = asApiFailure(new CapstanError(code, "The disk of /home/ada/.capstan/capstan.db is full."));
    expect(failure).toMatchObject({ status: 500, details: { error_code: code } });
    expect(failure.message).toBe("The server's store failed. See the server's log for this request id.");
  },
);

test("a conflict is final unless it resolves on its own", () => {
  const finals: readonly ErrorCode[] = ["approval_closed", "approval_pending", "session_ended", "store_conflict"];
  for (const code of finals) expect(asApiFailure(new CapstanError(code, "No.")).isFinal, code).toBe(true);
  for (const code of ["session_busy", "workspace_busy"] as const)
    expect(asApiFailure(new CapstanError(code, "Wait.")).isFinal, code).toBe(false);
  expect(asApiFailure(new CapstanError("store_conflict", "Again.", { retryable: true })).isFinal).toBe(false);
  expect(new ApiFailure("conflict_error", "Another version.").isFinal).toBe(true);
  expect(new ApiFailure("invalid_request_error", "Wrong.").isFinal).toBe(false);
});
