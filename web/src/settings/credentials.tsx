import { useQuery } from "@tanstack/react-query";
import type { WireCredential } from "../../../src/client/index.ts";
import { api } from "../api.ts";
import { useMay } from "../caller.tsx";
import { Loading } from "../parts/loading.tsx";
import { Card, Section } from "../parts/page.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { Pill } from "../parts/tone.tsx";

/** The model providers, and whether the server has credentials for each. Secrets never reach the browser. */
export function Credentials() {
  const may = useMay("operator");
  return (
    <Section title="Model credentials">
      {may ? (
        <Providers />
      ) : (
        <p className="text-sm text-muted">Only operators and admins can see the server's model credentials.</p>
      )}
    </Section>
  );
}

function Providers() {
  const { data, error, refetch } = useQuery({ queryKey: ["credentials"], queryFn: () => api.credentials() });
  if (error !== null)
    return <Problem thrown={error} title="Could not load the credentials" onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  return (
    <>
      {!data.some(({ present }) => present) && (
        <p className="rounded-lg border border-waiting/40 bg-waiting-soft p-3 text-sm">
          <span className="font-medium text-waiting">The server has no model credentials.</span> On its machine, run{" "}
          <code className="font-mono text-xs">capstan auth login</code>, or set{" "}
          <code className="font-mono text-xs">ANTHROPIC_API_KEY</code> and restart it. Until then, only the rehearsal
          model is available.
        </p>
      )}
      <Card className="divide-y divide-line">
        {data.map((credential) => (
          <Provider key={credential.provider} credential={credential} />
        ))}
      </Card>
      <p className="text-xs text-muted">
        Credentials stay on the server&apos;s machine and are never shown. To check whether one is valid, run{" "}
        <code className="font-mono">capstan auth test</code>.
      </p>
    </>
  );
}

function Provider({ credential }: { readonly credential: WireCredential }) {
  const { provider, name, present, source, active, problem } = credential;
  const isWrong = problem !== undefined;
  return (
    <div className="flex flex-col gap-1 p-3 text-sm">
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{name}</span>
        <code className="font-mono text-xs text-faint">{provider}</code>
        <Pill tone={present ? (isWrong ? "bad" : "good") : isWrong ? "waiting" : "quiet"}>
          {present ? (isWrong ? "present, with a problem" : "present") : isWrong ? "incomplete" : "missing"}
        </Pill>
        {active === true && <Pill tone="accent">in use</Pill>}
      </p>
      {source !== null && <p className="text-xs break-words text-muted">found: {source}</p>}
      {problem !== undefined && <p className="break-words text-bad">{problem}</p>}
      {!present && !isWrong && <p className="text-xs text-muted">{NEEDS[provider]}</p>}
    </div>
  );
}

/** What to set on the server's machine; see docs/credentials.md. */
const NEEDS: Readonly<Record<WireCredential["provider"], string>> = {
  api_key: "Run capstan auth login, or set ANTHROPIC_API_KEY.",
  auth_token: "Set ANTHROPIC_AUTH_TOKEN to the token from your proxy or gateway.",
  oauth_token: "Run claude setup-token and set CLAUDE_CODE_OAUTH_TOKEN to the token it prints.",
  bedrock: "Set AWS_REGION and AWS credentials.",
  vertex: "Set ANTHROPIC_VERTEX_PROJECT_ID and CLOUD_ML_REGION, and log in to Google Cloud.",
  foundry: "Set ANTHROPIC_FOUNDRY_API_KEY and ANTHROPIC_FOUNDRY_RESOURCE.",
};
