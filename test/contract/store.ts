import { describe } from "vitest";
import { approvalTests } from "../store/contract/approvals.ts";
import { changeTests } from "../store/contract/changes.ts";
import { claimTests } from "../store/contract/claims.ts";
import { deletionTests } from "../store/contract/deletion.ts";
import { leaseTests } from "../store/contract/leases.ts";
import { ledgerTests } from "../store/contract/ledger.ts";
import { listTests } from "../store/contract/lists.ts";
import { logTests } from "../store/contract/log.ts";
import { orderedListTests } from "../store/contract/ordered-lists.ts";
import { reservationTests } from "../store/contract/reservations.ts";
import { sessionTests } from "../store/contract/sessions.ts";
import { suiteRunTests } from "../store/contract/suite-runs.ts";
import { summaryTests } from "../store/contract/summaries.ts";
import { toolOutputTests } from "../store/contract/tool-outputs.ts";
import { snapshotTests, transcriptTests } from "../store/contract/transcripts.ts";
import type { Create } from "../store/contract/under-test.ts";

export interface StoreContract {
  readonly name: string;
  readonly create: Create;
}

/** What core/store.ts means. Every store passes this suite. */
export function storeContract({ name, create }: StoreContract): void {
  describe(`${name} keeps the store contract`, () => {
    sessionTests(create);
    listTests(create);
    orderedListTests(create);
    summaryTests(create);
    logTests(create);
    changeTests(create);
    deletionTests(create);
    snapshotTests(create);
    transcriptTests(create);
    leaseTests(create);
    claimTests(create);
    approvalTests(create);
    ledgerTests(create);
    reservationTests(create);
    suiteRunTests(create);
    toolOutputTests(create);
  });
}
