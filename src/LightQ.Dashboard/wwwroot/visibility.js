// Tells the page whether it can be seen: what nobody sees reads nothing.
export function watch(page) {
  document.addEventListener("visibilitychange", () => page.invokeMethodAsync("See", !document.hidden));
  return !document.hidden;
}
