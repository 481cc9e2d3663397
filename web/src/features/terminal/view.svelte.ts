import { hub } from "../../state/hub/hub.svelte";
import type { TerminalStream, Watched } from "../../state/execution/stream";
import type { Emulator } from "../../ui/terminal/emulator";
import { giveEmulator, takeEmulator } from "../../ui/terminal/pool";

/** A terminal that is out of sight this long is no longer watched. */
const LINGER_MS = 3_000;

/** One session's terminal on this page: its stream and what draws it. */
export class View {
  readonly session: string;
  readonly emulator: Emulator;
  readonly stream: TerminalStream;
  watched = $state.raw<Watched>() as Watched;
  #shown = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(session: string) {
    this.session = session;
    this.emulator = takeEmulator();
    this.stream = hub.channels.stream(session, this.emulator, (watched) => (this.watched = watched));
    this.watched = this.stream.watched;
  }

  /** Whether it is on the screen. */
  get isShown(): boolean {
    return this.#shown > 0;
  }

  /** It came onto the screen. */
  show(): void {
    clearTimeout(this.#timer);
    this.#shown += 1;
    this.stream.start();
  }

  /** It left the screen; a moment later nothing is sent for it any more. */
  hide(): void {
    this.#shown = Math.max(0, this.#shown - 1);
    if (this.#shown > 0) return;
    this.#timer = setTimeout(() => this.stream.stop(), LINGER_MS);
  }

  /** The browser's tab was looked at again, or not for a while. */
  wake(awake: boolean): void {
    if (!this.isShown) return;
    if (awake) this.stream.start();
    else this.stream.stop();
  }

  /** Ends it and gives its terminal back. */
  close(): void {
    clearTimeout(this.#timer);
    hub.channels.close(this.stream);
    giveEmulator(this.emulator);
  }
}
