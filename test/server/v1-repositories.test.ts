import { expect, test } from "vitest";
import { parseRequest } from "../../src/protocol/v1/refusal.ts";
import { repositoryName, resourceParams } from "../../src/protocol/v1/resources.ts";

test.for([
  ["https://example.org/team/tools.git", "tools"],
  ["https://example.org/team/t%6fols/", "tools"],
  ["https://example.org/team/%E0%A4%A.git", "repository"],
  ["https://example.org/%2e%2e", "repository"],
  ["https://example.org", "repository"],
])("clones %s as %s", ([url = "", name = ""]) => {
  expect(repositoryName(url)).toBe(name);
});

test.for([
  "https://ada:hunter2@example.org/tools",
  "https://hunter2@example.org/tools",
  "https://:hunter2@example.org/",
])("rejects a URL with credentials, because it is saved and shown: %s", (url) => {
  const parse = (): unknown => parseRequest("the body", resourceParams, { type: "github_repository", url });
  expect(parse).toThrow(/url: .*use authorization_token/);
  expect(parse).not.toThrow(/hunter2/);
});

test("accepts a URL without credentials", () => {
  const given = { type: "github_repository", url: "https://example.org/tools", authorization_token: "t" };
  expect(parseRequest("the body", resourceParams, given)).toEqual(given);
});
