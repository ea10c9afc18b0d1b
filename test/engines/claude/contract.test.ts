import type { Options } from "@anthropic-ai/claude-agent-sdk";
import { hostParts, hostWith } from "../../../src/app/host/host-parts.ts";
import { claudeCapabilities } from "../../../src/engines/claude/capabilities.ts";
import { type ClaudeSdk, pinnedSdk } from "../../../src/engines/claude/sdk/sdk.ts";
import { httpUpstream } from "../../../src/gateway/upstreams/http-upstream.ts";
import type { Runtime as Host } from "../../../src/runtime/runtime.ts";
import { engineContract } from "../../contract/engine/engine.ts";
import { ANY_PRESSURE, type TestHost } from "../../support/host.ts";

const claude = {
  name: "claude",
  agent: { engine: "claude" as const },
  capabilities: claudeCapabilities,
  hostWithSmallContexts,
};

engineContract(claude);

async function hostWithSmallContexts(t: TestHost): Promise<Host> {
  const parts = hostParts({ home: `${t.home}-2`, environment: t.environment, capacity: ANY_PRESSURE });
  const credential = { kind: "api_key", secret: "sk-test" } as const;
  const upstream = httpUpstream({ baseUrl: new URL(t.model.url), credential });
  return hostWith({ ...parts, upstream, sdk: soonFull() });
}

/** The real SDK, whose CLI takes a context to be full early. */
function soonFull(): ClaudeSdk {
  const sdk = pinnedSdk();
  return {
    ...sdk,
    query: (given) => sdk.query(full(given)),
    startup: (given) => sdk.startup(given === undefined ? given : full(given)),
  };
}

function full<Given extends { options?: Options }>(given: Given): Given {
  const env = { ...given.options?.env, CLAUDE_CODE_AUTO_COMPACT_WINDOW: "100000" };
  return { ...given, options: { ...given.options, env } };
}
