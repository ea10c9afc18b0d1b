/**
 * What a secret looks like. `secret` finds it; a group named `keep` keeps the text before the secret, and `end` the
 * text after it. Every repetition is bounded, or ends the pattern, or can't start again inside its own match, so that
 * each takes time proportional to the text.
 */
export interface SecretShape {
  readonly name: string;
  readonly secret: RegExp;
}

/** Not a value but a reference to one: a variable, a placeholder, something computed. */
const NO_VALUE = String.raw`(?![$%<{*\[(]|\.\.\.|(?:true|false|null|none|nil|undefined|required|optional|string|str|process|os|env|self|this|req|config|settings)\b|[\w.-]{0,40}(?:password|passwd|passphrase)\b)`;
const PASSWORD_NAME = String.raw`(?:password|passwd|passphrase)`;
const SECRET_NAME = String.raw`(?:secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|auth[_-]?key|private[_-]?key|account[_-]?key)`;
const UNQUOTED = String.raw`[^\s"'\x60&;,()<>{}|\\]`;

/** Name, a text that every match contains, the secret itself. */
export const SECRET_SHAPES = [
  shape(
    "private-key",
    "BEGIN",
    String.raw`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!-)){0,16384}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?`,
  ),
  shape("anthropic-key", "sk-ant-", String.raw`\bsk-ant-[\w-]{16,}`),
  shape("openai-key", "sk-", String.raw`\bsk-(?:proj|svcacct|admin|or-v1)-[\w-]{20,}`),
  shape("openai-key", "sk-", String.raw`\bsk-[A-Za-z0-9]{32,}`),
  shape("github-token", "gh[pousr]_|github_pat_", String.raw`\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{22,})`),
  shape("gitlab-token", "gl[a-z]{2,4}-", String.raw`\bgl(?:pat|ptt|dt|rt|soat|cbt|ft)-[\w-]{20,}`),
  shape("aws-key", "A[KSBC][IC]A", String.raw`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`),
  shape("google-key", "AIza", String.raw`\bAIza[\w-]{35}`),
  shape("google-token", "ya29|GOCSPX", String.raw`\b(?:ya29\.[\w-]{20,}|GOCSPX-[\w-]{24,})`),
  shape("slack-token", "xox|xapp", String.raw`\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}`),
  shape(
    "slack-webhook",
    String.raw`hooks\.slack`,
    String.raw`(?<keep>https://hooks\.slack\.com/services/)[A-Za-z0-9/]{20,}`,
  ),
  shape(
    "stripe-key",
    "[sr]k_|whsec_",
    String.raw`\b(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})`,
  ),
  shape("npm-token", "npm_", String.raw`\bnpm_[A-Za-z0-9]{36}\b`),
  shape("pypi-token", "pypi-", String.raw`\bpypi-AgE[\w-]{50,}`),
  shape("huggingface-token", "hf_", String.raw`\bhf_[A-Za-z0-9]{30,}`),
  shape("sendgrid-key", String.raw`SG\.`, String.raw`\bSG\.[\w-]{16,32}\.[\w-]{32,64}`),
  shape("digitalocean-token", "_v1_", String.raw`\bdo[opr]_v1_[a-f0-9]{64}\b`),
  shape("jwt", "eyJ", String.raw`(?<![\w-])eyJ[\w-]{8,8192}\.eyJ[\w-]{8,8192}\.[\w-]{0,8192}`),
  shape(
    "bearer-token",
    "bearer|basic",
    String.raw`(?<keep>\b(?:bearer|basic)[ \t]{1,4})(?=[\w.~+/-]{0,64}\d)[\w.~+/-]{12,8192}={0,2}`,
    "i",
  ),
  shape(
    "authorization",
    "authorization",
    String.raw`(?<keep>\b(?:proxy-)?authorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?:token[ \t]{1,4})?)(?!bearer\b|basic\b|digest\b|token\b)${NO_VALUE}${UNQUOTED}{8,8192}`,
    "i",
  ),
  shape(
    "url-password",
    "://",
    String.raw`(?<keep>\b[a-z][a-z0-9+.-]{1,30}://[^\s:/@"'\x60]{0,128}:)(?![$%<{*\[(])[^\s/@"'\x60]{1,256}(?<end>@)`,
    "i",
  ),
  // password=hunter2, DB_PASSWORD=hunter2, ?password=hunter2
  shape("password", "passw|passphrase", String.raw`(?<keep>${PASSWORD_NAME}=)${NO_VALUE}${UNQUOTED}{4,1024}`, "i"),
  // password = "hunter2", "password": "hunter2", password: 'hunter2'
  shape(
    "password",
    "passw|passphrase",
    String.raw`(?<keep>${PASSWORD_NAME}\\?["']?[ \t]{0,4}[:=][ \t]{0,4}\\?["'])${NO_VALUE}[^"'\\\r\n]{4,1024}(?<end>\\?["'])`,
    "i",
  ),
  // password: hunter2 and password = hunter2 at the end of a line, as in YAML and INI files. Code has types and names
  // there, so the value must contain a digit.
  shape(
    "password",
    "passw|passphrase",
    String.raw`(?<keep>${PASSWORD_NAME}(?::[ \t]{1,4}|[ \t]{1,4}=[ \t]{0,4}))${NO_VALUE}(?=${UNQUOTED}{0,64}\d)${UNQUOTED}{6,1024}(?=[ \t]*(?:[\r\n]|$))`,
    "i",
  ),
  // --password hunter2
  shape(
    "password",
    "passw|passphrase",
    String.raw`(?<keep>(?<![\w-])--?[\w-]{0,40}${PASSWORD_NAME}(?:[ \t]{1,4}|=)["']?)(?!-)${NO_VALUE}${UNQUOTED}{4,1024}`,
    "i",
  ),
  // API_TOKEN=…, "client_secret": "…": these words are common in code, so the value must also look like a secret.
  shape(
    "secret",
    "secret|token|key",
    String.raw`(?<keep>${SECRET_NAME}\\?["']?[ \t]{0,4}[:=][ \t]{0,4}\\?["']?)${NO_VALUE}(?=[^\s"']{0,64}\d)[\w.~+/=-]{12,8192}(?![\w(])`,
    "i",
  ),
  shape(
    "secret",
    "secret|token|key",
    String.raw`(?<keep>(?<![\w-])--[\w-]{0,40}${SECRET_NAME}[ \t]{1,4}["']?)(?!-)${NO_VALUE}(?=[^\s"']{0,64}\d)[\w.~+/=-]{12,8192}`,
    "i",
  ),
];

/**
 * Matches every text that contains one of the secrets above, and few others, so that most texts need no second check.
 */
export const HINT = new RegExp([...new Set(SECRET_SHAPES.map(({ hint }) => hint))].join("|"), "i");

function shape(name: string, hint: string, source: string, flags = ""): SecretShape & { readonly hint: string } {
  return { name, hint, secret: new RegExp(source, `g${flags}`) };
}

/** Names of fields, variables and headers whose whole value is a secret. */
const SECRET_FIELD = new RegExp(String.raw`(?:^|[_.-]|[a-z](?=[A-Z]))(?:${PASSWORD_NAME}|${SECRET_NAME})$`, "i");
const SECRET_VARIABLE = /(?:^|[_-])(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|AUTHORIZATION|COOKIE)$/i;

export function isSecretField(name: string): boolean {
  return SECRET_FIELD.test(name);
}

export function isSecretVariable(name: string): boolean {
  return SECRET_VARIABLE.test(name);
}
