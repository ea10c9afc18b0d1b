import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queries } from "./api.ts";
import { App } from "./app.tsx";
import { callerQuery } from "./caller.tsx";
import { listQuery } from "./sessions/list-query.ts";
import "./styles.css";

/** How long nothing is shown while the server is asked. */
const PATIENCE_MS = 200;

const place = document.getElementById("console");
if (place === null) throw new Error("The page has no place for the console.");
void draw(place);

/** What the first page shows is asked for at once, and not one after the other as the parts of the page are drawn. */
async function draw(into: HTMLElement): Promise<void> {
  const { pathname, search } = location;
  const asked = [queries.prefetchQuery(callerQuery)];
  if (pathname === "/") asked.push(queries.prefetchQuery(listQuery(new URLSearchParams(search))));
  if (pathname.startsWith("/sessions/")) void import("./session/session-page.tsx");
  // What is there in a moment needs no sign that it will come: to draw that first only delays it.
  await Promise.race([Promise.all(asked), new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
  createRoot(into).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}
