// Tells the page whether it can be seen: what nobody sees reads nothing.
export function watch(page) {
  document.addEventListener("visibilitychange", () => page.invokeMethodAsync("See", !document.hidden));
  return !document.hidden;
}

// Tells the page when the window becomes wide enough for the menu beside it, or too narrow.
export function watchWidth(page) {
  matchMedia("(min-width: 960px)").addEventListener("change", e => page.invokeMethodAsync("Widen", e.matches));
}
