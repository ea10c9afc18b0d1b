import { lazy, Suspense } from "react";
import { Link, Route, Switch, useLocation } from "wouter";
import { CallerGate } from "./caller.tsx";
import { Empty } from "./parts/empty.tsx";
import { Loading } from "./parts/loading.tsx";
import { Page } from "./parts/page.tsx";
import { SessionsPage } from "./sessions/sessions-page.tsx";
import { Layout } from "./shell/layout.tsx";
import { PageBoundary } from "./shell/page-boundary.tsx";

// Code that the first page does not need is loaded on demand.
const NewSessionPage = lazy(async () => ({
  default: (await import("./sessions/new-session-page.tsx")).NewSessionPage,
}));
const SessionPage = lazy(async () => ({ default: (await import("./session/session-page.tsx")).SessionPage }));
const ApprovalsPage = lazy(async () => ({ default: (await import("./approvals/approvals-page.tsx")).ApprovalsPage }));
const CostsPage = lazy(async () => ({ default: (await import("./costs/costs-page.tsx")).CostsPage }));
const AgentsPage = lazy(async () => ({ default: (await import("./agents/agents-page.tsx")).AgentsPage }));
const AgentPage = lazy(async () => ({ default: (await import("./agents/agent-page.tsx")).AgentPage }));
const PolicyPage = lazy(async () => ({ default: (await import("./policy/policy-page.tsx")).PolicyPage }));
const AuditPage = lazy(async () => ({ default: (await import("./audit/audit-page.tsx")).AuditPage }));
const TimeLinePage = lazy(async () => ({ default: (await import("./audit/time-line-page.tsx")).TimeLinePage }));
const TestsPage = lazy(async () => ({ default: (await import("./tests/tests-page.tsx")).TestsPage }));
const RunPage = lazy(async () => ({ default: (await import("./tests/run-page.tsx")).RunPage }));
const SettingsPage = lazy(async () => ({ default: (await import("./settings/settings-page.tsx")).SettingsPage }));

export function App() {
  const [at] = useLocation();
  return (
    <CallerGate>
      <Layout>
        <PageBoundary at={at}>
          <Suspense fallback={<Loading />}>
            <Switch>
              <Route path="/" component={SessionsPage} />
              <Route path="/new" component={NewSessionPage} />
              <Route path="/sessions/:id">{({ id }) => <SessionPage key={id} id={id} />}</Route>
              <Route path="/approvals" component={ApprovalsPage} />
              <Route path="/costs" component={CostsPage} />
              <Route path="/agents" component={AgentsPage} />
              <Route path="/agents/:id">{({ id }) => <AgentPage key={id} id={id} />}</Route>
              <Route path="/policy" component={PolicyPage} />
              <Route path="/audit" component={AuditPage} />
              <Route path="/audit/:id">{({ id }) => <TimeLinePage key={id} id={id} />}</Route>
              <Route path="/tests" component={TestsPage} />
              <Route path="/tests/:id">{({ id }) => <RunPage key={id} id={id} />}</Route>
              <Route path="/settings" component={SettingsPage} />
              <Route>
                <Page title="Not found">
                  <Empty title="Page not found">
                    <Link href="/" className="text-accent underline">
                      Go to sessions
                    </Link>
                  </Empty>
                </Page>
              </Route>
            </Switch>
          </Suspense>
        </PageBoundary>
      </Layout>
    </CallerGate>
  );
}
