import { useQuery } from "@tanstack/react-query";
import { ArrowLeft, Download, FileQuestion, MessagesSquare, ShieldCheck, X } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { api, isRefused } from "../api.ts";
import { Button, IconButton } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loading } from "../parts/loading.tsx";
import { Page, useTitle } from "../parts/page.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { DownloadLink } from "./download-link.tsx";
import { sessionName } from "./session-rows.ts";
import { TimeLine } from "./time-line.tsx";
import { VerificationResult } from "./verification-result.tsx";

/** In milliseconds: how often to check whether the log has grown. */
const LIVE_MS = 2_000;
const QUIET_MS = 5_000;

export function TimeLinePage({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["session", id, "time line"],
    queryFn: () => api.sessions.get(id),
    refetchInterval: ({ state }) => (state.data?.status === "running" ? LIVE_MS : QUIET_MS),
  });
  const title = data === undefined ? "Timeline" : sessionName(data);
  useTitle(`${title} · Audit`);
  if (isRefused(error, 404)) return <Gone id={id} wasThere={data !== undefined} />;
  if (data === undefined)
    return error === null ? (
      <Loading label="Loading the log" />
    ) : (
      <Page title="Timeline">
        {" "}
        <Problem title="Could not load the session" thrown={error} onRetry={() => void refetch()} />
      </Page>
    );
  return (
    <div className="flex h-full flex-col">
      <Head id={id} title={title} />
      {data.head === 0 ? (
        <div className="p-4">
          <Empty title="The log of this session is empty">
            Its first event is written when its workspace is ready.
          </Empty>
        </div>
      ) : (
        <TimeLine session={data} />
      )}
    </div>
  );
}

function Head({ id, title }: { readonly id: string; readonly title: string }) {
  const [isWanted, setWanted] = useState(false);
  const { data, error, refetch, isFetching, dataUpdatedAt } = useQuery({
    queryKey: ["audit", id],
    queryFn: () => api.verifyAudit({ session_id: id }),
    enabled: isWanted,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  const verify = (): void => {
    if (isWanted) void refetch();
    else setWanted(true);
  };
  return (
    <header className="flex flex-col gap-2 border-b border-line px-3 py-2 sm:px-4">
      <div className="flex flex-wrap items-center gap-2">
        <Link
          href="/audit"
          aria-label="Go to the audit of all sessions"
          className="inline-flex size-8 items-center justify-center rounded-md text-muted hover:bg-sunken hover:text-text"
        >
          <ArrowLeft className="size-4" aria-hidden />
        </Link>
        <div className="min-w-0 flex-1">
          <h1 dir="auto" className="truncate text-left text-lg font-semibold" title={title}>
            {title}
          </h1>
          <p className="truncate font-mono text-xs text-faint" title={id}>
            {id}
          </p>
        </div>
        <div className="flex items-center gap-1">
          <Link
            href={`/sessions/${id}`}
            className="inline-flex h-7 items-center gap-1.5 rounded-md px-2 text-sm font-medium text-muted hover:bg-sunken hover:text-text"
          >
            <MessagesSquare className="size-4" aria-hidden />
            <span className="max-sm:sr-only">Session</span>
          </Link>
          <DownloadLink id={id}>
            <Download className="size-4" aria-hidden />
            <span className="max-sm:sr-only">Download log</span>
          </DownloadLink>
          <Button small icon={<ShieldCheck className="size-4" aria-hidden />} disabled={isFetching} onClick={verify}>
            {isFetching ? "Verifying…" : "Verify"}
          </Button>
        </div>
      </div>
      {isWanted && error !== null && !isFetching && (
        <Problem title="Could not verify the log" thrown={error} onRetry={() => void refetch()} />
      )}
      {isWanted && data !== undefined && (
        <div className="flex items-start gap-1">
          <div className="max-h-64 min-w-0 flex-1 overflow-y-auto">
            <VerificationResult report={data} at={dataUpdatedAt} of="this session" />
          </div>
          <IconButton label="Dismiss result" onClick={() => setWanted(false)}>
            <X className="size-4" />
          </IconButton>
        </div>
      )}
    </header>
  );
}

function Gone({ id, wasThere }: { readonly id: string; readonly wasThere: boolean }) {
  return (
    <Page title="Timeline">
      <Empty icon={<FileQuestion />} title={wasThere ? "Session deleted" : "Session not found"}>
        <p className="break-all">
          <code className="font-mono">{id}</code>
        </p>
        <p className="mt-2">
          {wasThere
            ? "Its contents were erased. Its hashes and seals remain and are still verified."
            : "It was deleted, it belongs to another project, or the URL is wrong. Hashes and seals of deleted sessions remain and are still verified."}
        </p>
        <p className="mt-2">
          <Link href="/audit" className="text-accent underline">
            Go to the audit of all sessions
          </Link>
        </p>
      </Empty>
    </Page>
  );
}
