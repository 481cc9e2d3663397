import type { Problem } from "../../lib/failure";
import type { TerminalFrame } from "../../link/terminal";
import type { FromHub } from "../../protocol";
import { Painter, type Screen } from "./painter";

/** The messages of a stream to the hub. */
export type Wire = {
  /** Opens a channel; null when there is no connection. */
  watch(stream: TerminalStream, from: number | null): number | null;
  unwatch(channel: number): void;
  credit(channel: number, offset: number): void;
  input(channel: number, bytes: Uint8Array): void;
  resize(channel: number, cols: number, rows: number, take: boolean): void;
};

/** The state of a watched terminal. */
export type Watched = {
  /** `off`: not watched; `asking`: waiting for the screen; `live`; `refused`: denied by the hub. */
  phase: "off" | "asking" | "live" | "refused";
  mayType: boolean;
  /** Whether the runner is online. */
  reachable: boolean;
  title: string;
  cols: number;
  rows: number;
  problem: Problem | null;
  exit: { code: number | null; signal: number | null } | null;
};

/** After this many parsed bytes, credit is sent without waiting for a pause. */
const CREDIT_STEP = 32 * 1024;

/** Watches one terminal: resumes without gaps, and uses credit for flow control. */
export class TerminalStream {
  readonly session: string;
  readonly #wire: Wire;
  readonly #painter: Painter;
  readonly #changed: (watched: Watched) => void;
  #wanted = false;
  #channel: number | null = null;
  /** The offset up to which the screen has received the output; null before the first snapshot. */
  #received: number | null = null;
  #credited = 0;
  /** The size of the view; null before it is known. */
  #view: { cols: number; rows: number } | null = null;
  /** Whether the terminal has the size of this view because its person typed here. */
  #took = false;
  /** Whether a gap was found although the stream resumed by offset. */
  #mended = false;
  #watched: Watched = {
    phase: "off",
    mayType: false,
    reachable: true,
    title: "",
    cols: 0,
    rows: 0,
    problem: null,
    exit: null,
  };

  constructor(session: string, screen: Screen, wire: Wire, changed: (watched: Watched) => void) {
    this.session = session;
    this.#wire = wire;
    this.#painter = new Painter(screen);
    this.#changed = changed;
  }

  /** The current state. */
  get watched(): Watched {
    return this.#watched;
  }

  /** The offset of the received output. */
  get offset(): number | null {
    return this.#received;
  }

  /** Starts watching, from the last offset. */
  start(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    this.#ask(this.#received);
  }

  /** Stops watching. */
  stop(): void {
    this.#wanted = false;
    this.#hangUp();
    this.#become({ phase: "off" });
  }

  /** Called after reconnecting; resumes from the last offset. */
  linkLive(): void {
    if (this.#wanted && this.#channel === null) this.#ask(this.#received);
  }

  /** Called after a disconnection, which closes all channels. */
  linkLost(): void {
    this.#channel = null;
    if (this.#wanted) this.#become({ phase: "asking", mayType: false });
  }

  /** Sends input; ignored without permission to type. */
  type(bytes: Uint8Array): void {
    if (this.#channel !== null && this.#watched.mayType) this.#wire.input(this.#channel, bytes);
  }

  /** Reports the size of the view. The terminal follows the view that typed last. */
  resize(cols: number, rows: number): void {
    this.#view = { cols, rows };
    if (cols !== this.#watched.cols || rows !== this.#watched.rows) this.#tellSize(false);
  }

  /** Gives the terminal the size of this view, because its person types here. */
  takeSize(): void {
    const { cols, rows } = this.#view ?? { cols: 0, rows: 0 };
    if (this.#took && cols === this.#watched.cols && rows === this.#watched.rows) return;
    this.#took = this.#tellSize(true);
  }

  #tellSize(take: boolean): boolean {
    const { mayType, exit } = this.#watched;
    if (this.#channel === null || this.#view === null || !mayType || exit) return false;
    const { cols, rows } = this.#view;
    if (cols < 2 || rows < 2) return false;
    this.#wire.resize(this.#channel, cols, rows, take);
    return true;
  }

  /** Handles a frame about the channel. */
  said(frame: Extract<FromHub, { type: "watching" | "unwatched" }>): void {
    if (frame.channel !== this.#channel) return;
    if (frame.type === "watching") {
      const phase = this.#received === null ? "asking" : "live";
      const mayType = frame.may_type && this.#watched.exit === null;
      return this.#become({ phase, mayType, reachable: frame.reachable, problem: null });
    }
    // Clear the screen when access is revoked.
    this.#channel = null;
    this.#received = null;
    const { cols, rows } = this.#watched;
    if (cols > 0) this.#painter.paint({ cols, rows, bytes: new Uint8Array(), parsed: () => undefined });
    this.#become({ phase: "refused", mayType: false, title: "", problem: frame.problem });
  }

  /** Handles a frame from the terminal. */
  heard(frame: TerminalFrame): void {
    if (frame.channel !== this.#channel) return;
    switch (frame.kind) {
      case "snapshot":
        return this.#snapshot(frame);
      case "data":
        return this.#data(frame.offset, frame.bytes);
      case "exit":
        if (this.#received !== null && frame.offset > this.#received) return this.#mend();
        return this.#become({ exit: { code: frame.code, signal: frame.signal }, mayType: false });
      default:
        return;
    }
  }

  #snapshot(frame: Extract<TerminalFrame, { kind: "snapshot" }>): void {
    const { offset, cols, rows, bytes, title } = frame;
    this.#received = offset;
    this.#credited = offset;
    this.#mended = false;
    this.#painter.paint({ cols, rows, bytes, parsed: () => this.#parsed(offset, true) });
    // Otherwise another view has taken the size.
    this.#took &&= cols === this.#view?.cols && rows === this.#view.rows;
    this.#become({ phase: "live", cols, rows, title });
  }

  #data(offset: number, bytes: Uint8Array): void {
    // Output before the first snapshot cannot be drawn.
    if (this.#received === null) return;
    if (offset > this.#received) return this.#mend();
    const fresh = bytes.subarray(this.#received - offset);
    if (fresh.length === 0) return;
    this.#mended = false;
    this.#received += fresh.length;
    const end = this.#received;
    this.#painter.write(fresh, () => this.#parsed(end));
    if (this.#watched.phase !== "live") this.#become({ phase: "live" });
  }

  // On a gap, resume from the last offset, then request a snapshot.
  #mend(): void {
    const from = this.#mended ? null : this.#received;
    this.#mended = true;
    this.#hangUp();
    this.#ask(from);
  }

  #parsed(offset: number, now = false): void {
    if (this.#channel === null || this.#received === null || offset > this.#received) return;
    const step = offset - this.#credited;
    if (!now && (step <= 0 || (step < CREDIT_STEP && offset !== this.#received))) return;
    this.#credited = offset;
    this.#wire.credit(this.#channel, offset);
  }

  #ask(from: number | null): void {
    if (from === null) this.#received = null;
    this.#channel = this.#wire.watch(this, from);
    // It is another view to the hub.
    this.#took = false;
    this.#become({ phase: "asking", problem: null });
  }

  #hangUp(): void {
    if (this.#channel !== null) this.#wire.unwatch(this.#channel);
    this.#channel = null;
  }

  #become(more: Partial<Watched>): void {
    this.#watched = { ...this.#watched, ...more };
    this.#changed(this.#watched);
  }
}
