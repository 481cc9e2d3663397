import { View } from "./view.svelte";

/** Maximum number of cached terminals; others load their screen again when opened. */
const KEPT = 16;
/** A background tab stops watching terminals after this time. */
const HIDDEN_MS = 20_000;

const views = new Map<string, View>();

/** The view of a session, from a cache of the most recently used ones. */
export function viewOf(session: string): View {
  const view = views.get(session) ?? new View(session);
  views.delete(session);
  views.set(session, view);
  for (const [id, other] of views) {
    if (views.size <= KEPT) break;
    if (other.isShown || other === view) continue;
    views.delete(id);
    other.close();
  }
  return view;
}

let sleeping: ReturnType<typeof setTimeout> | undefined;

document.addEventListener("visibilitychange", () => {
  clearTimeout(sleeping);
  const wake = (awake: boolean) => views.forEach((view) => view.wake(awake));
  if (document.visibilityState === "visible") wake(true);
  else sleeping = setTimeout(() => wake(false), HIDDEN_MS);
});
