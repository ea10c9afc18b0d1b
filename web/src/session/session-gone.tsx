import { SearchX } from "lucide-react";
import { Link } from "wouter";
import { Empty } from "../parts/empty.tsx";
import { Page } from "../parts/page.tsx";

export function SessionGone({ id, wasThere }: { readonly id: string; readonly wasThere: boolean }) {
  return (
    <Page title={wasThere ? "This session was deleted" : "There is no such session"}>
      <Empty
        icon={<SearchX />}
        title={wasThere ? "Somebody deleted it while it was open" : `No session is called ${id}`}
      >
        {wasThere
          ? "Its conversation and files are gone. What it cost is still in the ledger."
          : "It was deleted, it belongs to another project, or the address is not right."}{" "}
        <Link href="/" className="text-accent underline">
          To the sessions
        </Link>
      </Empty>
    </Page>
  );
}
