import type { Approval, Escalation, Session } from "../../protocol";
import { APPROVAL, newApprovals, openApprovals, writerOf } from "../needs/approvals";
import type { Floor } from "../hub/floor";
import { navigation } from "./navigation.svelte";
import type { Route } from "./route";
import { newWaits, toldWaits, waitingFor } from "../execution/sessions";
import { recall, remember } from "../../lib/storage";
import { escalationsFor } from "../workers/workers";

/** Browser notifications for approvals, escalations and waiting agents; off until the person turns them on. */
class Alerts {
  #permission = $state<NotificationPermission | "unsupported">(
    typeof Notification === "undefined" ? "unsupported" : Notification.permission,
  );
  #wanted = $state(recall("alerts") === "yes");
  #told: ReadonlySet<string> | null = null;

  /** Whether notifications are on. */
  get on(): boolean {
    return this.#wanted && this.#permission === "granted";
  }

  /** Whether the browser blocks notifications. */
  get isBlocked(): boolean {
    return this.#permission === "denied";
  }

  /** Whether the browser supports notifications. */
  get isSupported(): boolean {
    return this.#permission !== "unsupported";
  }

  /** Turns notifications on, after asking for permission, or off. */
  async set(on: boolean): Promise<void> {
    if (on && this.#permission === "default") this.#permission = await Notification.requestPermission();
    this.#wanted = on && this.#permission === "granted";
    remember("alerts", this.#wanted ? "yes" : null);
  }

  /** Notifies about new requests, unless the page has the focus. */
  notice(floor: Floor): void {
    if (!floor.loaded) return;
    const waiting = waitingFor(floor);
    // Requests that are open when the page loads need no notification.
    const asked = escalationsFor(floor);
    const requests = openApprovals(floor);
    const told = this.#told;
    const fresh = told === null ? [] : newWaits(told, waiting);
    const questions = told === null ? [] : asked.filter((one) => !told.has(one.id));
    const wanted = told === null ? [] : newApprovals(told, requests);
    this.#told = new Set([
      ...toldWaits(told ?? new Set(), floor),
      ...[...asked, ...requests].map((one) => one.id),
    ]);
    if (!this.on || document.hasFocus()) return;
    for (const one of wanted.slice(0, 3)) this.#request(floor, one);
    for (const one of questions.slice(0, 3)) this.#ask(one);
    for (const session of fresh.slice(0, 3)) this.#tell(session);
  }

  #request(floor: Floor, { id, kind, author, text, runner_name }: Approval): void {
    const title = `${writerOf(floor, author)} wants to run something on ${runner_name}`;
    const place = { name: "approval", approval: id } as const;
    this.#show(title.charAt(0).toUpperCase() + title.slice(1), `${APPROVAL[kind].word}: ${text}`, id, place);
  }

  #ask({ id, title, question }: Escalation): void {
    this.#show(`${title} needs you`, question, id, { name: "escalation", escalation: id });
  }

  #tell({ id, title, agent, state }: Session): void {
    this.#show(`${title} is waiting for you`, state.detail ?? agent, id, { name: "session", session: id });
  }

  #show(title: string, body: string, tag: string, place: Route): void {
    try {
      const shown = new Notification(title, { body: body.slice(0, 200), tag, icon: "/icon.svg" });
      shown.onclick = () => {
        window.focus();
        navigation.go(place);
        shown.close();
      };
    } catch {
      // Some browsers need a service worker for this; the tab title shows open requests, too.
    }
  }
}

/** The page's notifications. */
export const alerts = new Alerts();
