import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { WireTrust } from "../../../src/client/index.ts";
import { api, isRefused, queries } from "../api.ts";
import { useCaller, useMay } from "../caller.tsx";
import { Confirm } from "../parts/form/confirm.tsx";
import { Loading } from "../parts/loading.tsx";
import { Card, Section } from "../parts/page.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { tell } from "../parts/toast.tsx";
import { shownPath } from "./entry-facts.ts";
import { TrustEntry } from "./trust-entry.tsx";
import { trustQuery } from "./trust-query.ts";

const ANCHOR = "trust";

/** Which project files have their full effect, and what the others would widen. */
export function TrustSection() {
  const may = useMay("operator");
  return (
    <Section id={ANCHOR} title="Trust">
      {may ? (
        <TrustList />
      ) : (
        <p className="text-sm text-muted">Only operators and admins can see which project files are trusted.</p>
      )}
    </Section>
  );
}

interface Failure {
  readonly title: string;
  readonly thrown: unknown;
}

function TrustList() {
  const { project } = useCaller();
  const isAdmin = useMay("admin");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const [leaving, setLeaving] = useState<WireTrust>();
  const { data, error, refetch } = useQuery(trustQuery);
  const isLoaded = data !== undefined;
  useEffect(() => {
    if (isLoaded && location.hash === `#${ANCHOR}`) document.getElementById(ANCHOR)?.scrollIntoView();
  }, [isLoaded]);
  if (error !== null)
    return <Problem thrown={error} title="The project files could not be loaded" onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;

  const trust = async (entry: WireTrust): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      await api.trust.add({ hash: entry.hash });
      tell(`${shownPath(entry, project)} is trusted. It takes full effect in new sessions.`);
    } catch (thrown) {
      const hasChanged = isRefused(thrown, 409);
      setFailure({ thrown, title: hasChanged ? CHANGED : `${shownPath(entry, project)} was not trusted` });
    }
    await queries.invalidateQueries({ queryKey: trustQuery.queryKey });
    setBusy(false);
  };
  return (
    <>
      <p className="max-w-3xl text-sm text-muted">
        Agents can write project files. A setting that gives agents more room takes effect only after an admin has
        trusted that exact content. {!isAdmin && <span className="text-text">Only admins can trust files.</span>}
      </p>
      {failure !== undefined && <Problem {...failure} />}
      {data.length === 0 ? (
        <p className="text-sm text-muted">
          The project has no settings file and no .env file, so there is nothing to trust.
        </p>
      ) : (
        <Card className="divide-y divide-line">
          {data.map((entry) => (
            <TrustEntry
              key={entry.hash}
              entry={entry}
              isBusy={busy}
              onTrust={isAdmin ? () => void trust(entry) : undefined}
              onRevoke={isAdmin ? () => setLeaving(entry) : undefined}
            />
          ))}
        </Card>
      )}
      {leaving !== undefined && (
        <Confirm
          title={`Revoke trust in ${shownPath(leaving, project)}?`}
          action="Revoke"
          onClose={() => setLeaving(undefined)}
          onConfirm={async () => {
            await api.trust.revoke(leaving.trusted_hash ?? leaving.hash);
            tell(`${shownPath(leaving, project)} is no longer trusted.`);
            await queries.invalidateQueries({ queryKey: trustQuery.queryKey });
          }}
        >
          <p>
            In new sessions, whatever it widens has no effect. Sessions that have already started keep their settings.
          </p>
          {leaving.trusted_hash !== leaving.hash || leaving.missing ? (
            <p>The restrictions of the content that was trusted before no longer apply.</p>
          ) : null}
        </Confirm>
      )}
    </>
  );
}

const CHANGED = "The file changed while you were reviewing it, so the list was reloaded";
