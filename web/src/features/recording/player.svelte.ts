import { asProblem, type Problem } from "../../lib/failure";
import type { RecordingDetail } from "../../protocol";
import { Playback } from "../../state/execution/playback";
import { hub } from "../../state/hub/hub.svelte";
import type { Emulator } from "../../ui/terminal/emulator";

/** The playback speeds. */
export const SPEEDS = [0.5, 1, 2, 5, 10, 30] as const;

/** Plays a recording in an emulator. */
export class RecordingPlayer {
  readonly session: string;
  readonly #playback: Playback;
  detail = $state.raw<RecordingDetail | null>(null);
  problem = $state.raw<Problem | null>(null);
  playing = $state(false);
  waiting = $state(false);
  now = $state(0);
  speed = $state(1);
  skipIdle = $state(true);
  #frame = 0;
  #last = 0;

  constructor(session: string, emulator: Emulator, resized: () => void) {
    this.session = session;
    this.#playback = new Playback(
      emulator,
      (from) => hub.call({ verb: "recording.part", session, range: { from_ms: from } }),
      resized,
    );
  }

  /** The duration in milliseconds. */
  get length(): number {
    return this.detail?.duration_ms ?? 0;
  }

  /** Loads the recording and seeks to a position. */
  async load(at: number): Promise<void> {
    this.problem = null;
    try {
      this.detail = await hub.call({ verb: "recording.show", session: this.session });
    } catch (thrown) {
      this.problem = asProblem(thrown);
      return;
    }
    await this.seek(at);
  }

  /** Seeks to a position. */
  async seek(at: number): Promise<void> {
    this.now = Math.min(Math.max(0, at), this.length);
    this.waiting = true;
    try {
      await this.#playback.seek(this.now);
      this.problem = null;
    } catch (thrown) {
      this.pause();
      this.problem = asProblem(thrown);
    } finally {
      this.waiting = false;
    }
  }

  /** Plays; restarts at the end. */
  async play(): Promise<void> {
    if (this.playing) return;
    if (this.now >= this.length) await this.seek(0);
    this.playing = true;
    this.#last = performance.now();
    this.#frame = requestAnimationFrame(this.#tick);
  }

  /** Pauses. */
  pause(): void {
    this.playing = false;
    cancelAnimationFrame(this.#frame);
  }

  /** Plays or pauses. */
  toggle(): void {
    if (this.playing) this.pause();
    else void this.play();
  }

  #tick = async (time: number): Promise<void> => {
    // Do not catch up after the browser was busy or in the background.
    const passed = Math.min(250, Math.max(0, time - this.#last)) * this.speed;
    this.#last = time;
    try {
      const more = await this.#playback.advance(passed, this.skipIdle);
      if (!this.playing) return;
      this.now = Math.min(this.#playback.now, this.length);
      if (!more || this.now >= this.length) return this.pause();
    } catch (thrown) {
      this.problem = asProblem(thrown);
      return this.pause();
    }
    this.#frame = requestAnimationFrame(this.#tick);
  };
}
