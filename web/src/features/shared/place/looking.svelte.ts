import { asProblem } from "../../../lib/failure";
import type { PathSeen, Runner } from "../../../protocol";
import { myRunners } from "../../../state/execution/agents";
import { hub } from "../../../state/hub/hub.svelte";
import { judge, kindOf, type Place, withoutBranch } from "../../../state/projects/place";

/** Typing pauses at least this long before the runner is asked. */
const PAUSE_MS = 120;

/** A repository's location as a person types it, and what a runner says about it. */
export class Looking {
  text = $state("");
  /** A location that is not judged, because it is stored already. */
  #stored = $state("");
  /** The chosen runner; empty: the first connected one. */
  runner = $state("");
  #seen = $state.raw<{ text: string; runner: string; path: PathSeen } | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** The caller's connected runners. */
  readonly runners = $derived(myRunners(hub.floor).filter((runner) => runner.connected));
  /** The runner that is asked. */
  readonly asked: Runner | undefined = $derived(
    this.runners.find((runner) => runner.id === this.runner) ?? this.runners[0],
  );
  readonly kind = $derived(kindOf(this.text));
  /** What the runner is asked about: the text without the branch that it may name. */
  readonly #path = $derived(withoutBranch(this.text));
  readonly #answer = $derived(
    this.#seen?.text === this.#path && this.#seen.runner === this.asked?.id ? this.#seen.path : null,
  );
  /** What is known about the location. */
  readonly place: Place = $derived(
    this.#stored && this.text.trim() === this.#stored
      ? { fits: true, text: "", location: this.#stored }
      : judge(this.#path, this.#answer, this.asked?.name ?? null),
  );
  /** Folders to choose from: those of the last answer that still fit, so that the list does not flicker. */
  readonly folders = $derived(
    this.kind === "path"
      ? (this.#seen?.path.folders ?? []).filter(
          (folder) => this.#answer !== null || folder.path.startsWith(this.text.trim()),
        )
      : [],
  );
  /** Whether there are more folders than the list shows. */
  readonly more = $derived(this.kind === "path" && (this.#answer?.more ?? false));

  constructor(stored = "") {
    this.#stored = stored;
    this.text = stored;
  }

  /** Asks the runner after a pause; call when the text or the runner changed. */
  later(): void {
    clearTimeout(this.#timer);
    if (this.kind === "path" && this.asked) this.#timer = setTimeout(() => void this.look(), PAUSE_MS);
  }

  /** Asks the runner now, unless it has answered. */
  async look(): Promise<void> {
    clearTimeout(this.#timer);
    const [text, runner] = [this.#path, this.asked];
    if (kindOf(text) !== "path" || !runner || this.#answer || this.text.trim() === this.#stored) return;
    let path: PathSeen;
    try {
      path = await hub.call({ verb: "runner.look", runner: runner.id, at: { path: text } });
    } catch (thrown) {
      const problem = asProblem(thrown).detail;
      path = { path: text, exists: false, repository: null, folders: [], more: false, problem };
    }
    // An answer about something else that was typed since is of no use.
    if (text === this.#path && runner.id === this.asked?.id) this.#seen = { text, runner: runner.id, path };
  }
}
