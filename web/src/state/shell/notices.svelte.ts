/** A message that belongs to no element on the page. */
export type Notice = { text: string; failed: boolean; act?: NoticeAct };

/** What a notice offers to do. */
export type NoticeAct = { word: string; run: () => void };

const SHOWN_MS = 6_000;
const OFFERED_MS = 12_000;

/** Shows the latest notice for a few seconds. */
class Notices {
  #current = $state.raw<Notice | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;

  get current(): Notice | null {
    return this.#current;
  }

  /** Shows a notice; a failure stays until the person dismisses it. */
  tell(text: string, failed = false): void {
    clearTimeout(this.#timer);
    this.#current = { text, failed };
    if (!failed) this.#timer = setTimeout(() => this.dismiss(), SHOWN_MS);
  }

  /** Shows a notice with a button, long enough to reach it. */
  offer(text: string, act: NoticeAct): void {
    clearTimeout(this.#timer);
    this.#current = { text, failed: false, act };
    this.#timer = setTimeout(() => this.dismiss(), OFFERED_MS);
  }

  /** Does what the notice offers. */
  accept(): void {
    const act = this.#current?.act;
    this.dismiss();
    act?.run();
  }

  /** Hides the notice. */
  dismiss(): void {
    this.#current = null;
  }
}

/** The page's notices. */
export const notices = new Notices();
