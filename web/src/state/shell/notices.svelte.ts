/** A message that belongs to no element on the page. */
export type Notice = { text: string; failed: boolean };

const SHOWN_MS = 6_000;

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

  /** Hides the notice. */
  dismiss(): void {
    this.#current = null;
  }
}

/** The page's notices. */
export const notices = new Notices();
