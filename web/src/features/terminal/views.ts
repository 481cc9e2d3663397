import { View } from "./view.svelte";

/** How many terminals keep what they showed; the others get the screen anew when they are opened. */
const KEPT = 16;
/** A browser tab in the background this long watches nothing. */
const HIDDEN_MS = 20_000;

const views = new Map<string, View>();

/** The view of a session; the ones used last are kept. */
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
