import { SearchX } from "lucide-react";
import { Link } from "wouter";
import { Empty } from "../parts/empty.tsx";
import { Page } from "../parts/page.tsx";

export function SessionGone({ id, wasThere }: { readonly id: string; readonly wasThere: boolean }) {
  return (
    <Page title={wasThere ? "Session deleted" : "Session not found"}>
      <Empty
        icon={<SearchX />}
        title={wasThere ? "Someone deleted this session while it was open" : `No session has the ID ${id}`}
      >
        {wasThere
          ? "Its conversation and files are gone. Its costs are still in the ledger."
          : "It was deleted, it belongs to another project, or the URL is wrong."}{" "}
        <Link href="/" className="text-accent underline">
          Go to sessions
        </Link>
      </Empty>
    </Page>
  );
}
