/** Something to tell that has no place of its own on the screen. */
export type Notice = { text: string; failed: boolean };

const SHOWN_MS = 6_000;

/** The newest notice, for a while. */
class Notices {
  #current = $state.raw<Notice | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;

  get current(): Notice | null {
    return this.#current;
  }

  /** Tells something in place of what was told before; a failure stays until it is dismissed. */
  tell(text: string, failed = false): void {
    clearTimeout(this.#timer);
    this.#current = { text, failed };
    if (!failed) this.#timer = setTimeout(() => this.dismiss(), SHOWN_MS);
  }

  /** Takes the notice away. */
  dismiss(): void {
    this.#current = null;
  }
}

/** The page's notices. */
export const notices = new Notices();
