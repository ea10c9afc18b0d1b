/** Which engine the test files run on. Every other file runs on `direct` in `npm test`, and on `claude` in `npm run test:all`. */

/** About the Claude CLI or SDK, or what only a process of its own shows: on `claude` alone, in `npm test`. */
export const CLAUDE_FIRST: readonly string[] = [
  "test/cli/interrupt.test.ts",
  "test/e2e/missing-binary.test.ts",
  "test/e2e/pricing.test.ts",
  "test/e2e/sdk-messages.test.ts",
  "test/engines/change.test.ts",
  "test/engines/claude/{approval-kills,contract}.test.ts",
  "test/mcp/bridge-cli.test.ts",
  "test/package/**/*.test.ts",
  // The examples of the README and the guide, on the engine that a server has by default.
  "test/server/v1-examples.test.ts",
];

/** The same, in `npm run test:rest`: each starts the CLI many times to prove one claim in depth. */
export const CLAUDE_LATER: readonly string[] = [
  "test/e2e/compaction.test.ts",
  "test/e2e/failed-output.test.ts",
  "test/e2e/first-turn-kills.test.ts",
  "test/engines/claude/lost-transcript.test.ts",
  "test/eval/cassette-canary.test.ts",
  "test/eval/drift.test.ts",
  // The cassettes of the examples were recorded on it.
  "test/eval/examples.test.ts",
  "test/gateway/agent.test.ts",
];

export const ABOUT_CLAUDE: readonly string[] = [...CLAUDE_FIRST, ...CLAUDE_LATER];

/** Campaigns that take long to prove one claim in depth, on `direct`: in `npm run test:deep`. */
export const DEEP: readonly string[] = [
  "test/browser/{console-bad-input,console-everywhere}.test.ts",
  "test/cli/{full-disk,record-whole}.test.ts",
  "test/e2e/{approval-kills,rewind-sequences,shell-oracle}.test.ts",
  "test/workspace/checkpoint-property.test.ts",
];

/** Claims that `npm test` proves on each engine. */
export const ON_BOTH_ENGINES: readonly string[] = ["test/e2e/isolation.test.ts", "test/e2e/sandbox.test.ts"];

/** No agent runs in them: once is enough. */
export const WITHOUT_ENGINE: readonly string[] = [
  "test/browser/{login-form,suite-report,suite-report-look,console-long-session,console-foundation}.test.ts",
  "test/cli/{ask-block,chat-editor,chat-markdown,chat-screen,chat-view,commands,input-flag,keys,policy-secrets}.test.ts",
  "test/cli/{remote-commands,run-view,schema,session-id,whole-file}.test.ts",
  "test/client/{browser,socket,stream}.test.ts",
  "test/e2e/shell-*.test.ts",
  "test/eval/{cassette-compare,cassette-session,figures,grade-*,report-*,side-effects,similarity,suite-docs,workspace-state}.test.ts",
  "test/hostile/{hidden-characters,patterns,protected-bash,protected-paths,server-bodies,shell-paths,shell-rules}.test.ts",
  "test/server/{api-clip,auth-keys,auth-login,base-app,base-failure,base-listen,console-pages,stdio,webhooks}.test.ts",
  "test/server/{v1-agents,v1-environments,v1-files,v1-models,v1-repositories}.test.ts",
  "test/server/{body,heavy}/**/*.test.ts",
];
