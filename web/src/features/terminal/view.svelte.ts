import { hub } from "../../state/hub/hub.svelte";
import type { TerminalStream, Watched } from "../../state/execution/stream";
import type { Emulator } from "../../ui/terminal/emulator";
import { giveEmulator, takeEmulator } from "../../ui/terminal/pool";

/** A hidden terminal is unwatched after this time. */
const LINGER_MS = 3_000;

/** The terminal of a session: its stream and its emulator. */
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

  /** Whether it is visible. */
  get isShown(): boolean {
    return this.#shown > 0;
  }

  /** Called when it becomes visible. */
  show(): void {
    clearTimeout(this.#timer);
    this.#shown += 1;
    this.stream.start();
  }

  /** Called when it is hidden; stops the stream after a delay. */
  hide(): void {
    this.#shown = Math.max(0, this.#shown - 1);
    if (this.#shown > 0) return;
    this.#timer = setTimeout(() => this.stream.stop(), LINGER_MS);
  }

  /** Starts or stops the stream when the browser tab changes its visibility. */
  wake(awake: boolean): void {
    if (!this.isShown) return;
    if (awake) this.stream.start();
    else this.stream.stop();
  }

  /** Closes the stream and returns the emulator to the pool. */
  close(): void {
    clearTimeout(this.#timer);
    hub.channels.close(this.stream);
    giveEmulator(this.emulator);
  }
}
