import { useSearchParams } from "wouter";
import { Page } from "../parts/page.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { ExplainCall } from "./explain-call.tsx";
import { GrantsView } from "./grants-view.tsx";
import { WhatIf } from "./what-if.tsx";

const TABS = ["explain", "what-if", "grants"] as const;

export function PolicyPage() {
  const [params, setParams] = useSearchParams();
  const tab = TABS.find((one) => one === params.get("tab")) ?? "explain";
  return (
    <Page
      title="Policy"
      about="What agents may do: which rule decides, what other rules would change, and remembered answers."
    >
      <Tabs
        isInPage
        label="Policy"
        value={tab}
        onChange={(chosen) => setParams(chosen === "explain" ? {} : { tab: chosen })}
        tabs={[
          { id: "explain", label: "Rules", content: <ExplainCall /> },
          { id: "what-if", label: "What if", content: <WhatIf /> },
          { id: "grants", label: "Grants", content: <GrantsView /> },
        ]}
      />
    </Page>
  );
}
