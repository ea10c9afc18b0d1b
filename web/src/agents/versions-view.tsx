import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { WireAgent } from "../../../src/client/index.ts";
import { api } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { diffOf, DiffView } from "../parts/text/diff-view.tsx";
import { Field, Select } from "../parts/form/field.tsx";
import { Ago, When } from "../parts/figures/figures.tsx";
import { Loading } from "../parts/loading.tsx";
import { Section } from "../parts/page.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { Table } from "../parts/table.tsx";
import { versionText } from "./agent-text.ts";

/** Versions per request. */
const PAGE = 50;

/** The versions of an agent, and the difference between two of them. */
export function VersionsView({ id, onShow }: { readonly id: string; readonly onShow: (version: string) => void }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ["agents", "versions", id],
    queryFn: ({ pageParam }) =>
      api.agents.versions(id, { limit: PAGE, ...(pageParam !== undefined && { before: pageParam }) }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (last) => (last.length < PAGE ? undefined : last.at(-1)?.version),
  });
  const [chosen, setChosen] = useState<{ readonly from?: number; readonly to?: number }>({});
  if (error !== null)
    return <Problem thrown={error} title="Could not load the versions" onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  const versions = data.pages.flat();
  const to = versions.find(({ version }) => version === chosen.to) ?? versions[0];
  const from = versions.find(({ version }) => version === chosen.from) ?? versions[1];
  return (
    <div className="flex flex-col gap-6 pt-2">
      <Section title="Changes">
        {from === undefined || to === undefined ? (
          <p className="text-sm text-muted">There is only one version, so nothing to compare.</p>
        ) : (
          <>
            <div className="flex flex-wrap gap-3">
              <Choice
                label="From"
                versions={versions}
                value={from.version}
                onChoose={(version) => setChosen({ from: version, to: to.version })}
              />
              <Choice
                label="To"
                versions={versions}
                value={to.version}
                onChoose={(version) => setChosen({ from: from.version, to: version })}
              />
            </div>
            <Difference from={from} to={to} />
          </>
        )}
      </Section>
      <Section title="All versions">
        <Table
          caption="Versions"
          rows={versions}
          rowKey={({ version }) => String(version)}
          columns={[
            { title: "Version", cell: ({ version }) => <span className="font-medium">{version}</span> },
            { title: "Saved", cell: ({ updated_at: at }) => <Ago at={at} /> },
            { title: "At", minor: true, cell: ({ updated_at: at }) => <When at={at} /> },
            {
              title: "Model",
              minor: true,
              cell: ({ definition }) => <span className="font-mono text-xs">{definition.model}</span>,
            },
            {
              title: "Actions",
              cell: ({ version }) => (
                <span className="flex flex-wrap gap-2">
                  <Button small onClick={() => onShow(String(version))}>
                    Show<span className="sr-only"> version {version}</span>
                  </Button>
                  {version > 1 && versions.some((one) => one.version === version - 1) && (
                    <Button small look="quiet" onClick={() => setChosen({ from: version - 1, to: version })}>
                      Show changes<span className="sr-only"> as version {version}</span>
                    </Button>
                  )}
                </span>
              ),
            },
          ]}
        />
        {hasNextPage && (
          <Button className="self-center" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show older versions
          </Button>
        )}
      </Section>
    </div>
  );
}

function Choice({
  label,
  versions,
  value,
  onChoose,
}: {
  readonly label: string;
  readonly versions: readonly WireAgent[];
  readonly value: number;
  readonly onChoose: (version: number) => void;
}) {
  return (
    <Field label={label}>
      <Select value={value} onChange={(event) => onChoose(Number(event.target.value))}>
        {versions.map(({ version }) => (
          <option key={version} value={version}>
            version {version}
          </option>
        ))}
      </Select>
    </Field>
  );
}

export function Difference({ from, to }: { readonly from: WireAgent; readonly to: WireAgent }) {
  const file = useMemo(
    () => diffOf(`${to.definition.name}: version ${from.version} → ${to.version}`, versionText(from), versionText(to)),
    [from, to],
  );
  if (file.lines.length === 0)
    return <p className="text-sm text-muted">These versions are identical. Secrets are not compared.</p>;
  return <DiffView key={file.path} file={file} fold={200} />;
}
