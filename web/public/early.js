// Before the first paint, while the page's own script is still on its way. A file of its own: the page allows no inline
// script.
try {
  // A chosen theme does not flash.
  const chosen = localStorage.getItem("capstan.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Without storage the system's theme holds.
}

// What every page asks for first, and what the first page does. `src/early.ts` takes the answers.
const paths = ["/api/whoami"];
if (location.pathname === "/" && location.search === "") paths.push("/api/sessions?limit=50&include_archived=false");
globalThis.capstanAsked = new Map(
  paths.map((path) => {
    const answer = fetch(path);
    // Whoever takes it hears of a failure.
    answer.catch(() => {});
    return [location.origin + path, answer];
  }),
);
