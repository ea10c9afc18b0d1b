import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queries } from "./api.ts";
import { App } from "./app.tsx";
import { callerQuery } from "./caller.tsx";
import { listQuery } from "./sessions/list-query.ts";
import "./styles.css";

/** In milliseconds: how long to wait for the server before showing anything. */
const PATIENCE_MS = 200;

const container = document.getElementById("console");
if (container === null) throw new Error("The page has no root element.");
void draw(container);

/** Fetch all data of the first page at once, instead of one request after another as components mount. */
async function draw(into: HTMLElement): Promise<void> {
  const { pathname, search } = location;
  const asked = [queries.prefetchQuery(callerQuery)];
  if (pathname === "/") asked.push(queries.prefetchQuery(listQuery(new URLSearchParams(search))));
  if (pathname.startsWith("/sessions/")) void import("./session/session-page.tsx");
  // Do not draw a loading indicator for data that arrives within a moment: it would only delay the page.
  await Promise.race([Promise.all(asked), new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
  createRoot(into).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}
