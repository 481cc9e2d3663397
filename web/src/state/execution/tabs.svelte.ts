import { recall, remember } from "../../lib/storage";

/** Maximum number of tabs; the oldest are closed first. */
const MOST = 40;

/** The open terminal tabs of this browser; they survive a reload. */
class Tabs {
  #open = $state.raw<readonly string[]>((recall("tabs") ?? "").split(" ").filter(Boolean));
  #grid = $state(recall("terminal-grid") === "yes");
  #tiles = $state(Number(recall("terminal-tiles")) || 4);
  #diff = $state(recall("terminal-diff") === "yes" && recall("terminal-grid") !== "yes");
  #reader = $state(recall("screen-reader") === "yes");
  #fontSize = $state(Number(recall("terminal-font")) || 13);

  /** The sessions with a tab. */
  get open(): readonly string[] {
    return this.#open;
  }

  /** Adds a tab for a session, unless it has one. */
  add(session: string): void {
    if (!this.#open.includes(session)) this.#set([...this.#open, session].slice(-MOST));
  }

  /** Removes a tab; returns its neighbour. */
  remove(session: string): string | null {
    const at = this.#open.indexOf(session);
    const left = this.#open.filter((other) => other !== session);
    this.#set(left);
    return left[Math.min(at, left.length - 1)] ?? null;
  }

  /** Moves a tab by a number of places. */
  move(session: string, by: number): void {
    const at = this.#open.indexOf(session);
    const to = at + by;
    if (at < 0 || to < 0 || to >= this.#open.length) return;
    const next = this.#open.filter((other) => other !== session);
    next.splice(to, 0, session);
    this.#set(next);
  }

  #set(open: readonly string[]): void {
    this.#open = open;
    remember("tabs", open.length > 0 ? open.join(" ") : null);
  }

  /** Maximum number of terminals in the grid. */
  get tiles(): number {
    return this.#tiles;
  }
  set tiles(value: number) {
    this.#tiles = value;
    remember("terminal-tiles", value === 4 ? null : String(value));
  }

  /** Whether several terminals are shown at once; excludes the diff. */
  get grid(): boolean {
    return this.#grid;
  }
  set grid(value: boolean) {
    this.#grid = value;
    remember("terminal-grid", value ? "yes" : null);
    if (value) this.diff = false;
  }

  /** Whether the diff is shown beside the terminal. */
  get diff(): boolean {
    return this.#diff;
  }
  set diff(value: boolean) {
    this.#diff = value;
    remember("terminal-diff", value ? "yes" : null);
    if (value) this.grid = false;
  }

  /** Whether terminals support screen readers, which makes them slower. */
  get reader(): boolean {
    return this.#reader;
  }
  set reader(value: boolean) {
    this.#reader = value;
    remember("screen-reader", value ? "yes" : null);
  }

  /** The font size. */
  get fontSize(): number {
    return this.#fontSize;
  }
  set fontSize(value: number) {
    this.#fontSize = Math.min(24, Math.max(8, value));
    remember("terminal-font", this.#fontSize === 13 ? null : String(this.#fontSize));
  }
}

/** The terminal tabs. */
export const tabs = new Tabs();
