// Before the first paint, so that a chosen theme does not flash. A file of its own: the page allows no inline script.
try {
  const chosen = localStorage.getItem("capstan.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Without storage the system's theme holds.
}
