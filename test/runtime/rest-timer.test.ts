import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RestTimer } from "../../src/runtime/engine/processes.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a process that waits rests in time, however often it is said that it waits", () => {
  const onDue = vi.fn<() => void>();
  const timer = new RestTimer(100, onDue);
  for (let said = 0; said < 4; said += 1) {
    timer.start();
    vi.advanceTimersByTime(30);
  }
  expect(onDue).toHaveBeenCalledOnce();
});

test("a process that is needed again has its whole time afterwards", () => {
  const onDue = vi.fn<() => void>();
  const timer = new RestTimer(100, onDue);
  timer.start();
  vi.advanceTimersByTime(90);
  timer.stop();
  vi.advanceTimersByTime(90);
  timer.start();
  vi.advanceTimersByTime(90);
  expect(onDue).not.toHaveBeenCalled();
  vi.advanceTimersByTime(10);
  expect(onDue).toHaveBeenCalledOnce();
});
