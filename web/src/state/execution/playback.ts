import type { RecordedEvent, RecordingPart } from "../../protocol";
import { Painter, type Screen } from "./painter";

/** Longer pauses are skipped, if idle time is. */
const IDLE_MS = 2_000;
/** The remaining length of a skipped pause. */
const BREATH_MS = 400;
/** Output within this time after the first text belongs to the first picture. */
const BURST_MS = 250;
/** The next part is fetched this long before the current one ends. */
const AHEAD_MS = 5_000;

/** Plays a recording on a screen; fetches its parts on demand. */
export class Playback {
  readonly #painter: Painter;
  readonly #fetch: (from: number) => Promise<RecordingPart>;
  readonly #resized: (cols: number, rows: number) => void;
  #part: RecordingPart | null = null;
  #index = 0;
  #next: { from: number; part: Promise<RecordingPart> } | null = null;
  #now = 0;
  #seeks = 0;
  #busy = false;

  constructor(
    screen: Screen,
    fetch: (from: number) => Promise<RecordingPart>,
    resized: (cols: number, rows: number) => void = () => undefined,
  ) {
    this.#painter = new Painter(screen);
    this.#fetch = fetch;
    this.#resized = resized;
  }

  /** The position in milliseconds. */
  get now(): number {
    return this.#now;
  }

  /** Whether it is loading a part. */
  get isWaiting(): boolean {
    return this.#busy;
  }

  /** Seeks to a position. */
  async seek(at: number): Promise<void> {
    const ticket = ++this.#seeks;
    const part = this.#part;
    if (part && covers(part, at)) {
      if (at < this.#now) this.#paint(part);
      return this.#show(at);
    }
    this.#busy = true;
    try {
      const found = await this.#fetch(Math.max(0, Math.floor(at)));
      // A newer seek may have started meanwhile.
      if (ticket !== this.#seeks) return;
      this.#next = null;
      this.#paint(found);
      this.#show(Math.max(at, found.from_ms));
    } finally {
      if (ticket === this.#seeks) this.#busy = false;
    }
  }

  /** Advances by a time; returns false at the end. */
  async advance(by: number, skipIdle: boolean): Promise<boolean> {
    if (!this.#part || this.#busy) return true;
    let to = this.#now + by;
    if (skipIdle) to = Math.max(to, this.#afterPause());
    const { next_ms } = this.#part;
    if (next_ms === null) {
      this.#play(to);
      return this.#index < this.#part.events.length;
    }
    if (next_ms - to < AHEAD_MS) this.#prefetch(next_ms);
    this.#play(Math.min(to, next_ms));
    if (to < next_ms) return true;
    return this.#turn(next_ms);
  }

  #prefetch(from: number): Promise<RecordingPart> {
    if (this.#next?.from !== from) this.#next = { from, part: this.#fetch(from) };
    // Errors are reported when the part is needed.
    this.#next.part.catch(() => undefined);
    return this.#next.part;
  }

  // The next part continues from the current screen.
  async #turn(from: number): Promise<boolean> {
    const ticket = this.#seeks;
    this.#busy = true;
    try {
      const part = await this.#prefetch(from);
      if (ticket !== this.#seeks) return true;
      this.#part = part;
      this.#index = 0;
      this.#next = null;
      return true;
    } catch (thrown) {
      this.#next = null;
      throw thrown;
    } finally {
      if (ticket === this.#seeks) this.#busy = false;
    }
  }

  #afterPause(): number {
    const next = this.#part?.events
      .slice(this.#index)
      .find((event) => event.code === "o" || event.code === "x");
    const at = next?.at_ms ?? this.#part?.next_ms ?? this.#now;
    return at - this.#now > IDLE_MS ? at - BREATH_MS : 0;
  }

  #paint(part: RecordingPart): void {
    this.#part = part;
    this.#index = 0;
    this.#now = part.from_ms;
    const bytes = Uint8Array.from(atob(part.screen), (letter) => letter.charCodeAt(0));
    this.#painter.paint({ cols: part.cols, rows: part.rows, bytes, parsed: () => undefined });
    this.#resized(part.cols, part.rows);
  }

  // At position 0 the screen is empty: show the first picture instead.
  #show(at: number): void {
    this.#play(at);
    if (at === 0) this.#draw(this.#firstPicture());
  }

  #firstPicture(): number {
    const first = this.#part?.events.find((event) => event.code === "o" && hasWords(event.data));
    return first ? first.at_ms + BURST_MS : 0;
  }

  #play(to: number): void {
    this.#draw(to);
    this.#now = Math.max(this.#now, to);
  }

  #draw(to: number): void {
    const events = this.#part?.events ?? [];
    let output = "";
    const flush = () => {
      if (output) this.#painter.write(new TextEncoder().encode(output), () => undefined);
      output = "";
    };
    for (let event = events[this.#index]; event && event.at_ms <= to; event = events[++this.#index]) {
      if (event.code === "o") output += event.data;
      else if (event.code === "r") {
        flush();
        this.#resize(event);
      }
    }
    flush();
  }

  #resize(event: RecordedEvent): void {
    const [cols = 0, rows = 0] = event.data.split("x").map(Number);
    if (cols < 1 || rows < 1) return;
    this.#painter.resize(cols, rows);
    this.#resized(cols, rows);
  }
}

function hasWords(output: string): boolean {
  // eslint-disable-next-line no-control-regex -- control sequences start with a control character.
  const plain = output.replace(/\x1b(\][^\x07\x1b]*(\x07|\x1b\\)?|\[[0-?]*[ -/]*[@-~]?|[ -/]*[0-~])/g, "");
  return /[^\s\p{Cc}]/u.test(plain);
}

function covers(part: RecordingPart, at: number): boolean {
  return part.from_ms <= at && (part.next_ms === null || at < part.next_ms);
}
