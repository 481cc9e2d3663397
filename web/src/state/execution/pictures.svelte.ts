import { SvelteMap } from "svelte/reactivity";
import type { SessionScreen } from "../../protocol";
import { hub } from "../hub/hub.svelte";

/** How often a visible picture is taken again. */
const EVERY_MS = 3_000;
/** Maximum number of pictures that are taken at a time; others keep their last one. */
const MOST = 12;

/** The sessions whose pictures to take: at most `most`, those that were taken longest ago first. */
export function due(
  wanted: Iterable<string>,
  taken: ReadonlyMap<string, number>,
  now: number,
  most = MOST,
): string[] {
  const old = (session: string) => taken.get(session) ?? -Infinity;
  return [...wanted]
    .filter((session) => now - old(session) >= EVERY_MS)
    .sort((a, b) => old(a) - old(b))
    .slice(0, most);
}

/** Small pictures of running sessions, taken only while they are visible. */
class Pictures {
  readonly screens = new SvelteMap<string, SessionScreen>();
  readonly #wanted = new Map<string, number>();
  readonly #taken = new Map<string, number>();
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Takes pictures of a session until the returned function is called. */
  want(session: string): () => void {
    this.#wanted.set(session, (this.#wanted.get(session) ?? 0) + 1);
    this.#timer ??= setInterval(() => this.#take(), EVERY_MS);
    queueMicrotask(() => this.#take());
    return () => {
      const left = (this.#wanted.get(session) ?? 1) - 1;
      if (left > 0) return void this.#wanted.set(session, left);
      this.#wanted.delete(session);
      if (this.#wanted.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #take(): void {
    if (document.visibilityState !== "visible" || hub.connection.phase !== "live") return;
    const now = performance.now();
    for (const session of due(this.#wanted.keys(), this.#taken, now)) {
      this.#taken.set(session, now);
      hub.call({ verb: "session.screen", session }).then(
        (screen) => this.screens.set(session, screen),
        // It ended, its runner is away, or it is no longer shared.
        () => this.screens.delete(session),
      );
    }
  }
}

/** The pictures of this page. */
export const pictures = new Pictures();
