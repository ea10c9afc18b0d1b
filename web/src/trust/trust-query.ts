import { queryOptions } from "@tanstack/react-query";
import { api } from "../api.ts";

export const trustQuery = queryOptions({
  queryKey: ["trust"],
  queryFn: () => api.trust.list(),
  // Content must not change under the eyes of the person who is reviewing it.
  refetchOnWindowFocus: false,
  refetchOnReconnect: false,
});
