import { asProblem, type Problem } from "../../lib/failure";
import type { SearchHit } from "../../protocol";

/** The pause after the last key press before the hub is asked, in milliseconds. */
const PAUSE = 120;

/** What a search answers. */
export interface Results<Hit> {
  hits: readonly Hit[];
  truncated: boolean;
  /** How many runners did not answer. */
  unanswered?: number;
}

/** Results of the hub for a text that is being typed. An answer to an earlier text is ignored. */
export class Finder<Hit = SearchHit> {
  hits = $state.raw<readonly Hit[]>([]);
  truncated = $state(false);
  unanswered = $state(0);
  problem = $state.raw<Problem | null>(null);
  /** Whether the hub has not yet answered the current text. */
  busy = $state(false);
  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #search: (text: string) => Promise<Results<Hit>>;
  readonly #pause: number;

  constructor(search: (text: string) => Promise<Results<Hit>>, pause = PAUSE) {
    this.#search = search;
    this.#pause = pause;
  }

  /** Finds a text; earlier results stay until the answer. */
  ask(text: string): void {
    clearTimeout(this.#timer);
    const turn = ++this.#turn;
    this.problem = null;
    this.busy = text.trim() !== "";
    if (this.busy) this.#timer = setTimeout(() => void this.#fetch(text, turn), this.#pause);
    else this.#show({ hits: [], truncated: false });
  }

  /** Ignores every answer from now on. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#turn += 1;
  }

  async #fetch(text: string, turn: number): Promise<void> {
    try {
      const results = await this.#search(text);
      if (turn === this.#turn) this.#show(results);
    } catch (thrown) {
      if (turn !== this.#turn) return;
      this.#show({ hits: [], truncated: false });
      this.problem = asProblem(thrown);
    } finally {
      if (turn === this.#turn) this.busy = false;
    }
  }

  #show({ hits, truncated, unanswered = 0 }: Results<Hit>): void {
    this.hits = hits;
    this.truncated = truncated;
    this.unanswered = unanswered;
  }
}
