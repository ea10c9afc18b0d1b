import { keepPreviousData, useQuery, type UseQueryResult } from "@tanstack/react-query";
import type { LedgerSearch, WireLedgerLine } from "../../../src/client/index.ts";
import { api } from "../api.ts";
import { serverNow } from "../server-watch.ts";
import { lastDays, startOf, withLater } from "./days.ts";

/** Days shown. */
export type Range = 7 | 30 | 90;

export interface Spending {
  /** Oldest first, including days without spending. */
  readonly days: readonly string[];
  readonly lines: readonly WireLedgerLine[];
}

/** Spending of the last days. Days and lines come together, so that a chart never mixes two ranges. */
export function useSpending(
  { by, split }: Pick<LedgerSearch, "by" | "split">,
  range: Range,
  zone: string | undefined,
): UseQueryResult<Spending> {
  return useQuery({
    queryKey: ["ledger", by, split, range, zone],
    enabled: zone !== undefined,
    queryFn: async (): Promise<Spending> => {
      const time_zone = zone ?? "UTC";
      const days = lastDays(range, serverNow(), time_zone);
      const since = new Date(startOf(days[0] ?? "", time_zone)).toISOString();
      const { data } = await api.ledger({ by, split, since, time_zone });
      return {
        days:
          by === "day"
            ? withLater(
                days,
                data.map(({ key }) => key),
              )
            : days,
        lines: data,
      };
    },
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
}
