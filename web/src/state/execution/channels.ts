import { encodeTerminal, type TerminalFrame } from "../../link/terminal";
import type { FromHub, ToHub } from "../../protocol";
import type { Screen } from "./painter";
import { TerminalStream, type Watched, type Wire } from "./stream";

/** Maximum input size of a frame; longer input is split. */
const INPUT_STEP = 32 * 1024;

/** Sends frames to the hub; returns whether it was possible. */
export type Sender = { tell: (frame: ToHub) => boolean; send: (bytes: Uint8Array<ArrayBuffer>) => boolean };

/** The watched terminals, each on a channel with a unique number. */
export class Channels {
  readonly #sender: Sender;
  readonly #streams = new Set<TerminalStream>();
  readonly #open = new Map<number, TerminalStream>();
  #next = 1;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Creates a stream of a session's terminal, not started yet. */
  stream(session: string, screen: Screen, changed: (watched: Watched) => void): TerminalStream {
    const stream = new TerminalStream(session, screen, this.#wire, changed);
    this.#streams.add(stream);
    return stream;
  }

  /** Closes a stream. */
  close(stream: TerminalStream): void {
    stream.stop();
    this.#streams.delete(stream);
  }

  /** Called after connecting. */
  live(): void {
    for (const stream of this.#streams) stream.linkLive();
  }

  /** Called after a disconnection. */
  lost(): void {
    this.#open.clear();
    for (const stream of this.#streams) stream.linkLost();
  }

  /** Handles a frame about a channel. */
  said(frame: Extract<FromHub, { type: "watching" | "unwatched" }>): void {
    const stream = this.#open.get(frame.channel);
    if (frame.type === "unwatched") this.#open.delete(frame.channel);
    stream?.said(frame);
  }

  /** Handles a frame from a terminal. */
  heard(frame: TerminalFrame): void {
    this.#open.get(frame.channel)?.heard(frame);
  }

  readonly #wire: Wire = {
    watch: (stream, from) => {
      const channel = this.#next;
      const at = from === null ? {} : { from };
      if (!this.#sender.tell({ type: "watch", channel, session: stream.session, ...at })) return null;
      this.#next += 1;
      this.#open.set(channel, stream);
      return channel;
    },
    unwatch: (channel) => {
      this.#open.delete(channel);
      this.#sender.tell({ type: "unwatch", channel });
    },
    credit: (channel, offset) => void this.#sender.send(encodeTerminal({ kind: "credit", channel, offset })),
    input: (channel, bytes) => {
      for (let at = 0; at < bytes.length; at += INPUT_STEP) {
        const part = bytes.subarray(at, at + INPUT_STEP);
        this.#sender.send(encodeTerminal({ kind: "input", channel, bytes: part }));
      }
    },
    resize: (channel, cols, rows, take) =>
      void this.#sender.tell({ type: "resize", channel, cols, rows, ...(take && { take }) }),
  };
}
