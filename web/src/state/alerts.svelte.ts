import type { Session } from "../protocol";
import type { Floor } from "./floor";
import { navigation } from "./navigation.svelte";
import { newWaits, waitingFor, waitKey } from "./sessions";
import { recall, remember } from "./storage";

/** Tells this person outside the page that an agent waits; asked for by a button, never by itself. */
class Alerts {
  #permission = $state<NotificationPermission | "unsupported">(
    typeof Notification === "undefined" ? "unsupported" : Notification.permission,
  );
  #wanted = $state(recall("alerts") === "yes");
  #told: ReadonlySet<string> | null = null;

  /** Whether they come. */
  get on(): boolean {
    return this.#wanted && this.#permission === "granted";
  }

  /** Whether the browser can be asked. */
  get isBlocked(): boolean {
    return this.#permission === "denied";
  }

  /** Whether the browser can do it at all. */
  get isSupported(): boolean {
    return this.#permission !== "unsupported";
  }

  /** Turns them on, asking the browser first, or off. */
  async set(on: boolean): Promise<void> {
    if (on && this.#permission === "default") this.#permission = await Notification.requestPermission();
    this.#wanted = on && this.#permission === "granted";
    remember("alerts", this.#wanted ? "yes" : null);
  }

  /** Tells of every session that began to wait since the last time, unless this page is looked at. */
  notice(floor: Floor): void {
    if (!floor.loaded) return;
    const waiting = waitingFor(floor);
    // What waits already when the page opens is on the screen.
    const fresh = this.#told === null ? [] : newWaits(this.#told, waiting);
    this.#told = new Set(waiting.map(waitKey));
    if (!this.on || document.hasFocus()) return;
    for (const session of fresh.slice(0, 3)) this.#tell(session);
  }

  #tell(session: Session): void {
    const options = { body: session.state.detail ?? session.agent, tag: session.id, icon: "/icon.svg" };
    try {
      const shown = new Notification(`${session.title} waits for you`, options);
      shown.onclick = () => {
        window.focus();
        navigation.go({ name: "session", session: session.id });
        shown.close();
      };
    } catch {
      // Some browsers show them only from a service worker: the tab's title says it, too.
    }
  }
}

/** The page's notifications. */
export const alerts = new Alerts();
