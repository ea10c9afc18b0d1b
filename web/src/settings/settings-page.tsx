import { useQuery } from "@tanstack/react-query";
import { ExternalLink, LogOut } from "lucide-react";
import { api } from "../api.ts";
import { useCaller } from "../caller.tsx";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/text/code.tsx";
import { Card, Page, Section } from "../parts/page.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { Pill } from "../parts/tone.tsx";
import { SingleKeys } from "../shell/single-keys-choice.tsx";
import { TrustSection } from "../trust/trust-section.tsx";
import { Credentials } from "./credentials.tsx";
import { Keys } from "./keys.tsx";
import { ThemeChoice } from "./theme-choice.tsx";
import { Webhooks } from "./webhooks.tsx";

export function SettingsPage() {
  return (
    <Page title="Settings">
      <div className="flex flex-col gap-8">
        <div className="grid items-start gap-6 lg:grid-cols-2">
          <You />
          <Project />
        </div>
        <TrustSection />
        <Credentials />
        <Keys />
        <Webhooks />
      </div>
    </Page>
  );
}

/** The id of people who use the link; others have the id of their key. */
const BROWSER = "browser";

const ROLES = {
  viewer: "You can view everything in the project, but change nothing.",
  operator: "You can start and control sessions, and answer approvals.",
  admin:
    "You can start and control sessions, answer approvals, trust project files, and manage agents, grants, keys and webhooks.",
} as const;

function You() {
  const { id, name, role } = useCaller();
  return (
    <Section title="You">
      <Card className="flex flex-col gap-4 p-3">
        <div className="flex flex-wrap items-center justify-between gap-3">
          <div className="min-w-0 text-sm">
            <p className="flex flex-wrap items-center gap-2">
              <span dir="auto" className="font-medium break-all">
                {name}
              </span>
              <Pill tone="accent">{role}</Pill>
            </p>
            <p className="text-muted">{ROLES[role]}</p>
            <p className="text-xs text-faint">
              {id === BROWSER ? (
                "Logged in with the link that the server printed"
              ) : (
                <>
                  Logged in with the key <code className="font-mono break-all">{id}</code>
                </>
              )}
            </p>
          </div>
          <form method="post" action="/logout">
            <Button type="submit" icon={<LogOut className="size-4" />}>
              Log out
            </Button>
          </form>
        </div>
        <ThemeChoice />
        <SingleKeys />
      </Card>
    </Section>
  );
}

function Project() {
  const { project } = useCaller();
  const { data, error, refetch } = useQuery({ queryKey: ["projects"], queryFn: () => api.projects() });
  const directory = data?.find(({ id }) => id === project)?.directory;
  return (
    <Section title="Project">
      <Card className="flex flex-col gap-3 p-3 text-sm">
        {error !== null && <Problem thrown={error} onRetry={() => void refetch()} />}
        <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
          <dt className="text-muted">Name</dt>
          <dd className="min-w-0 break-all">{project}</dd>
          <dt className="text-muted">Directory</dt>
          <dd className="flex min-w-0 items-start gap-1">
            {typeof directory === "string" ? (
              <>
                <code dir="ltr" className="min-w-0 font-mono text-xs leading-6 break-all">
                  {directory}
                </code>
                <CopyButton text={directory} label="Copy directory" />
              </>
            ) : (
              <span className="text-muted">
                {data === undefined ? "…" : "None. Each session names its own directory."}
              </span>
            )}
          </dd>
        </dl>
        <p className="flex flex-wrap gap-x-4 gap-y-1">
          <Outside href="/docs">API reference</Outside>
          <Outside href="/openapi.json">OpenAPI spec</Outside>
        </p>
      </Card>
    </Section>
  );
}

/** Served by the server, outside the console. */
function Outside({ href, children }: { readonly href: string; readonly children: string }) {
  return (
    <a
      href={href}
      target="_blank"
      rel="noreferrer"
      className="inline-flex items-center gap-1 text-accent hover:underline"
    >
      {children}
      <ExternalLink className="size-3.5" aria-hidden />
      <span className="sr-only">(in a new tab)</span>
    </a>
  );
}
