import { describe, expect, test } from "vitest";
import { isBase64 } from "../../src/core/events/content.ts";

describe("base64", () => {
  test.each(["QQ==", "QUI=", "QUJD", "ab+/", "A".repeat(24_000_000), `${"A".repeat(24_000_000)}AA==`])(
    "is told from its letters, however long it is (%#)",
    (data) => expect(isBase64(data)).toBe(true),
  );

  test.each(["", "A", "QQ=", "QQ", "====", "A===", "=AAA", "A=AA", "AA=A", "QUJD\n", "QUJ-", "QU D", "QQ==QQ=="])(
    "is not %j",
    (data) => expect(isBase64(data)).toBe(false),
  );
});
