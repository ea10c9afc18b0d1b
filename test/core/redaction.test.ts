import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor, secretVariables } from "../../src/core/redaction/redaction.ts";
import { mayStandFor } from "../../src/core/redaction/redaction-marker.ts";

const plain = createRedactor();
const long = (letters: string, length: number): string => letters.repeat(length).slice(0, length);
const MIXED = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY";

/** Made up, in the shape of real ones. */
const SECRETS: readonly (readonly [name: string, secret: string])[] = [
  ["anthropic-key", `sk-ant-api03-${long(MIXED, 90)}`],
  ["openai-key", `sk-${long(MIXED, 48)}`],
  ["openai-key", `sk-proj-${long(MIXED, 60)}`],
  ["github-token", `ghp_${long(MIXED, 36)}`],
  ["github-token", `github_pat_${long(MIXED, 80)}`],
  ["gitlab-token", `glpat-${long(MIXED, 20)}`],
  ["aws-key", `AKIAIOSFODNN7EXAMPLE`],
  ["google-key", `AIza${long(MIXED, 35)}`],
  ["google-token", `ya29.${long(MIXED, 60)}`],
  ["slack-token", `xoxb-123456789012-${long(MIXED, 24)}`],
  ["stripe-key", `sk_live_${long(MIXED, 24)}`],
  ["npm-token", `npm_${long(MIXED, 36)}`],
  ["jwt", `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.${long(MIXED, 43)}`],
  ["private-key", `-----BEGIN RSA PRIVATE KEY-----\n${long(MIXED, 64)}\n-----END RSA PRIVATE KEY-----`],
];

test.for(SECRETS)("%s is taken out, whatever stands around it", ([name, secret]) => {
  for (const [before, after] of [
    ["", ""],
    ["the key is ", "."],
    ['{"value":"', '"}'],
    ["(", ")\nand more"],
    ["x=", " y"],
  ] as const) {
    const redacted = plain.text(before + secret + after);
    expect(redacted).not.toContain(secret.slice(8, 40));
    expect(redacted.startsWith(before) && redacted.endsWith(after)).toBe(true);
  }
  expect(plain.text(`say ${secret} twice ${secret}`)).toBe(`say [redacted:${name}] twice [redacted:${name}]`);
});

const FORMS: readonly (readonly [text: string, redacted: string])[] = [
  ["mysql --password hunter2 -u root", "mysql --password [redacted:password] -u root"],
  ["mysql --password=hunter2", "mysql --password=[redacted:password]"],
  ["tool --db-password 'hunter2'", "tool --db-password '[redacted:password]'"],
  ["DB_PASSWORD=hunter2 npm start", "DB_PASSWORD=[redacted:password] npm start"],
  ["https://a.example/?user=x&password=hunter2&z=1", "https://a.example/?user=x&password=[redacted:password]&z=1"],
  ['{"password": "hunter2", "a": 1}', '{"password": "[redacted:password]", "a": 1}'],
  [String.raw`{\"password\":\"hunter2\"}`, String.raw`{\"password\":\"[redacted:password]\"}`],
  ["password = 'correct horse'", "password = '[redacted:password]'"],
  ["postgres://app:s3cr3t@db.example/app", "postgres://app:[redacted:url-password]@db.example/app"],
  ["https://:t0ken@host/x", "https://:[redacted:url-password]@host/x"],
  [`Authorization: Bearer ${MIXED}`, "Authorization: Bearer [redacted:bearer-token]"],
  [`curl -H "authorization: token ${MIXED}"`, 'curl -H "authorization: token [redacted:authorization]"'],
  [`API_TOKEN=${MIXED}`, "API_TOKEN=[redacted:secret]"],
  [`aws_secret_access_key = ${MIXED}`, "aws_secret_access_key = [redacted:secret]"],
  [`tool --api-key ${MIXED} run`, "tool --api-key [redacted:secret] run"],
  [`-----BEGIN PRIVATE KEY-----\nMIIE and then the output was cut`, "[redacted:private-key]"],
];

test.for(FORMS)("%j keeps what is no secret", ([text, redacted]) => {
  expect(plain.text(text)).toBe(redacted);
  expect(mayStandFor(redacted, text)).toBe(true);
});

const HARMLESS = [
  "The password must be changed every year. Ask for a token: it is free.",
  "Bearer authentication is described in the documentation of the internationalization team.",
  "const password = process.env.PASSWORD;",
  "login(user, password=password, token=token)",
  'password: "${DB_PASSWORD}"',
  "PASSWORD=$PASSWORD ./run",
  "max_tokens=4096 input_tokens: 100200300400",
  "PWD=/home/user/project/src123456789",
  "commit 4d53dee2cf7d4f1b634f7c76d9d6c667c5512345 and 2cf7d4f",
  "sha512-9Qx/0NLqVpmzIhDDPMuUTzTPwYbE0HTJ9K7Ul1lOAcM4JxmMi0QP2lZ7ZCzZ==",
  "sesn_0190aaaabbbb7cccdddd000000000001 toolu_01AbCdEfGhIjKlMnOpQrStUv msg_01XyZ",
  "0190aaaa-bbbb-7ccc-dddd-0000000000aa",
  "http://localhost:8080/path?x=1 and https://user@example.com/ and ssh://git@host:22/x",
  "npm_config_registry npm_lifecycle_event github_pattern sk-learn task-force ask-anything",
  "scikit sk-learn-contrib and risk-management-of-large-organisations",
  "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
  "secret = getSecret(name)",
  'import { token } from "./token-v12345678.ts";',
];

test.for(HARMLESS)("%j stays as it is", (text) => {
  expect(plain.text(text)).toBe(text);
});

describe("an event", () => {
  const secret = `ghp_${long(MIXED, 36)}`;

  test("is redacted in every text and in the keys of a tool's input", () => {
    const event = {
      type: "agent.tool_use",
      id: "sevt_1",
      call_id: "toolu_1",
      name: "Bash",
      engine_name: "Bash",
      input: { command: `echo ${secret}`, nested: [{ [secret]: 1 }], password: "hunter2" },
    };
    expect(plain.event(event)).toEqual({
      ...event,
      input: {
        command: "echo [redacted:github-token]",
        nested: [{ "[redacted:github-token]": 1 }],
        password: "[redacted:password]",
      },
    });
  });

  test("keeps both values when two keys become the same", () => {
    const input = { [secret]: 1, [`${secret}A`]: 2 };
    expect(plain.event({ input })).toEqual({
      input: { "[redacted:github-token]": 1, "[redacted:github-token]#2": 2 },
    });
  });

  test("keeps ids, names, hashes and signatures even when a pattern fits them", () => {
    const greedy = createRedactor({ patterns: [{ name: "all", pattern: "[a-zA-Z_.]{2,40}" }] });
    const event = {
      type: "agent.thinking",
      id: "sevt_abc",
      message_id: "msg_abc",
      signature: "abcdef",
      thinking: "aha",
    };
    expect(greedy.event(event)).toEqual({ ...event, thinking: "[redacted:all]" });
  });

  test("is the very same object when there is nothing to redact, images included", () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: `${secret}${MIXED}` } };
    const event = { type: "user.message", id: "sevt_1", content: [{ type: "text", text: "hello" }, image] };
    expect(plain.event(event)).toBe(event);
  });

  test("keeps a field named __proto__ as a field", () => {
    const input = JSON.parse(`{"__proto__": {"x": 1}, "key": "${secret}"}`) as object;
    expect(JSON.stringify(plain.event({ input }))).toBe(
      '{"input":{"__proto__":{"x":1},"key":"[redacted:github-token]"}}',
    );
  });
});

describe("known values", () => {
  const redactor = createRedactor({ secrets: [{ name: "DB_URL", value: 'p@ss "word" 1' }] });

  test("are found as they are, in JSON and in an address", () => {
    for (const text of ['p@ss "word" 1', JSON.stringify('p@ss "word" 1').slice(1, -1), "p%40ss%20%22word%22%201"])
      expect(redactor.text(`<${text}>`)).toBe("<[redacted:DB_URL]>");
  });

  test("are added without changing the redactor that was there", () => {
    expect(plain.with([{ name: "X", value: "open-sesame" }]).text("open-sesame")).toBe("[redacted:X]");
    expect(plain.text("open-sesame")).toBe("open-sesame");
  });

  test("come from variables by their names, and too short ones are left alone", () => {
    const secrets = secretVariables({
      MY_KEY: "12345678",
      API_TOKEN: "abcdefgh",
      KEYBOARD: "qwertyui",
      A_SECRET: "abc",
    });
    expect(secrets.map(({ name }) => name)).toEqual(["MY_KEY", "API_TOKEN", "A_SECRET"]);
    expect(createRedactor({ secrets }).text("abc 12345678 qwertyui")).toBe("abc [redacted:MY_KEY] qwertyui");
  });
});

describe("whatever the text", () => {
  const anySecret = fc.constantFrom(...SECRETS.map(([, secret]) => secret), ...FORMS.map(([text]) => text));
  const anyText = fc
    .array(
      fc.oneof(fc.string(), anySecret, fc.constantFrom("[redacted:x]", "[redacted:", "]", "=", " ", "password", "\n")),
    )
    .map((parts) => parts.join(""));
  const redactor = createRedactor({
    secrets: [{ name: "KNOWN_KEY", value: "known-value" }],
    patterns: [{ name: "mine", pattern: "red[a-z]{1,6}|ACME-\\d{4,}" }],
  });

  test("a second time changes nothing, and what is left was there before", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const once = redactor.text(text);
        expect(redactor.text(once)).toBe(once);
        expect(mayStandFor(once, text)).toBe(true);
      }),
    );
  });

  test("no secret of ours survives between other words", () => {
    fc.assert(
      fc.property(fc.lorem(), fc.constantFrom(...SECRETS), fc.lorem(), (before, [, secret], after) => {
        expect(plain.text(`${before} ${secret} ${after}`)).not.toContain(secret);
      }),
    );
  });

  test("ids, hashes, prose and numbers are no secrets", () => {
    const hex = fc.string().map((text) => createHash("sha256").update(text).digest("hex"));
    const sri = fc.string().map((text) => `sha512-${createHash("sha512").update(text).digest("base64")}`);
    const word = fc.oneof(
      fc.uuid(),
      hex,
      hex.map((text) => text.slice(0, 40)),
      sri,
      fc.lorem(),
      fc.integer().map(String),
    );
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const text = words.join(" ");
        expect(plain.text(text)).toBe(text);
      }),
    );
  });
});

const decision = (line: string, mention = "a") => ({
  type: "capstan.permission_decided",
  subject: {
    home: "/root",
    shell: {
      commands: [{ words: line.split(" ").map((text) => ({ text, dynamic: false })) }],
      mentions: [{ named: `/ws/${mention}`, real: `/ws/${mention}` }],
    },
  },
});

describe("the words of a command that was decided about", () => {
  test.each([
    ["mysql --password hunter2abc -e 1", "hunter2abc"],
    ["deploy --token abcdef123456789", "abcdef123456789"],
    ["docker run -e AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfi", "wJalrXUtnFEMI/K7MDENG/bPxRfi"],
  ])("hold no secret that only the whole shows: %s", (line, secret) => {
    const redacted = plain.event(decision(line, secret));
    expect(JSON.stringify(redacted)).not.toContain(secret);
    expect(plain.event(redacted)).toBe(redacted);
  });

  test("lose nothing else", () => {
    const event = decision("ls --all src/a.ts");
    expect(plain.event(event)).toBe(event);
    expect(plain.event(decision("mysql --password root")).subject.home).toBe("/root");
  });
});

test.each([
  ["user: me\npassword: hunter2xyz\nhost: x", "user: me\npassword: [redacted:password]\nhost: x"],
  ["db.password = s3cretword", "db.password = [redacted:password]"],
  ["password: string", "password: string"],
  ["password: sha256(x1)", "password: sha256(x1)"],
  ["if password == other1:", "if password == other1:"],
])("a password of a settings file is taken out, a name in code is not: %j", (text, redacted) => {
  expect(plain.text(text)).toBe(redacted);
});
