import { recall, remember } from "../../lib/storage";

/** The colour theme. */
export type Theme = "system" | "light" | "dark";

const theme = recall("theme");
const narrow = matchMedia("(width <= 1100px)");

/** Whether a person asked for the first steps of a place, or dismissed them. */
export type StepsChoice = "shown" | "hidden";

/** Preferences, stored in this browser. */
class Preferences {
  #theme = $state<Theme>(theme === "light" || theme === "dark" ? theme : "system");
  #floorOpen = $state(recall("floor") !== "closed");
  #inspectorOpen = $state(recall("inspector") !== "closed");
  #sheetOpen = $state(false);
  #narrow = $state(narrow.matches);
  #inspectorWide = $state(recall("inspector-wide") === "yes");
  #singleKeys = $state(recall("single-keys") !== "off");
  #closed = $state.raw<ReadonlySet<string>>(
    new Set((recall("closed-projects") ?? "").split(" ").filter(Boolean)),
  );

  #steps = $state.raw<ReadonlyMap<string, StepsChoice>>(
    new Map(
      (recall("first-steps") ?? "")
        .split(" ")
        .filter(Boolean)
        .map((entry) => [entry.replace(/!$/u, ""), entry.endsWith("!") ? "shown" : "hidden"]),
    ),
  );

  constructor() {
    narrow.addEventListener("change", () => {
      this.#narrow = narrow.matches;
      this.#sheetOpen = false;
    });
  }

  get theme(): Theme {
    return this.#theme;
  }
  set theme(value: Theme) {
    this.#theme = value;
    remember("theme", value === "system" ? null : value);
    if (value === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = value;
  }

  get floorOpen(): boolean {
    return this.#floorOpen;
  }
  set floorOpen(value: boolean) {
    this.#floorOpen = value;
    remember("floor", value ? null : "closed");
  }

  /** Whether the inspector is open. On a narrow screen it covers the page, so it starts closed. */
  get inspectorOpen(): boolean {
    return this.#narrow ? this.#sheetOpen : this.#inspectorOpen;
  }
  set inspectorOpen(value: boolean) {
    this.#sheetOpen = value;
    if (this.#narrow) return;
    this.#inspectorOpen = value;
    remember("inspector", value ? null : "closed");
  }

  /** Closes the inspector on a narrow screen. */
  closeSheet(): void {
    this.#sheetOpen = false;
  }

  get inspectorWide(): boolean {
    return this.#inspectorWide;
  }
  set inspectorWide(value: boolean) {
    this.#inspectorWide = value;
    remember("inspector-wide", value ? "yes" : null);
  }

  /** Whether single-key shortcuts are on; they conflict with voice input. */
  get singleKeys(): boolean {
    return this.#singleKeys;
  }
  set singleKeys(value: boolean) {
    this.#singleKeys = value;
    remember("single-keys", value ? null : "off");
  }

  /** Whether a project is collapsed in the sidebar. */
  isFolded(project: string): boolean {
    return this.#closed.has(project);
  }

  /** The choice about the first steps of a place: a project's id, or `home`; null shows them where nothing was started. */
  stepsOf(place: string): StepsChoice | null {
    return this.#steps.get(place) ?? null;
  }

  /** Dismisses the first steps of a place, or brings them back. */
  chooseSteps(place: string, choice: StepsChoice): void {
    this.#steps = new Map([...this.#steps, [place, choice]]);
    const entries = [...this.#steps].map(([known, chosen]) => (chosen === "shown" ? `${known}!` : known));
    remember("first-steps", entries.join(" "));
  }

  /** Collapses or expands a project in the sidebar. */
  fold(project: string, folded: boolean): void {
    const others = [...this.#closed].filter((other) => other !== project);
    const next = folded ? [...others, project] : others;
    this.#closed = new Set(next);
    remember("closed-projects", next.length > 0 ? next.join(" ") : null);
  }
}

/** This browser's preferences. */
export const preferences = new Preferences();
