/** How long after the last input a person still counts as looking at the page. */
const IDLE_MS = 120_000;
/** Input that shows that somebody is there. */
const SIGNS = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart", "focus"] as const;

/** Whether somebody uses the page. */
export class Attention {
  #here = $state(true);
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Whether there was input within the last two minutes. */
  get here(): boolean {
    return this.#here;
  }

  /** Follows input until the returned function is called. */
  watch(): () => void {
    let noticed = 0;
    const notice = () => {
      // Moving the pointer must not cost anything.
      if (Date.now() - noticed < 1000) return;
      noticed = Date.now();
      this.#here = true;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => (this.#here = false), IDLE_MS);
    };
    notice();
    for (const sign of SIGNS) window.addEventListener(sign, notice, { passive: true });
    return () => {
      clearTimeout(this.#timer);
      for (const sign of SIGNS) window.removeEventListener(sign, notice);
    };
  }
}
