import { encodeTerminal, type TerminalFrame } from "../../link/terminal";
import type { FromHub, ToHub } from "../../protocol";
import type { Screen } from "./painter";
import { TerminalStream, type Watched, type Wire } from "./stream";

/** The largest piece of input in one frame: a long paste must not be one. */
const INPUT_STEP = 32 * 1024;

/** How channels reach the hub; each says whether it could. */
export type Sender = { tell: (frame: ToHub) => boolean; send: (bytes: Uint8Array<ArrayBuffer>) => boolean };

/** The terminals that this page watches, each on a channel whose number is never used twice. */
export class Channels {
  readonly #sender: Sender;
  readonly #streams = new Set<TerminalStream>();
  readonly #open = new Map<number, TerminalStream>();
  #next = 1;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** A stream of a session's terminal onto a screen; it starts when it is told to. */
  stream(session: string, screen: Screen, changed: (watched: Watched) => void): TerminalStream {
    const stream = new TerminalStream(session, screen, this.#wire, changed);
    this.#streams.add(stream);
    return stream;
  }

  /** Ends a stream for good. */
  close(stream: TerminalStream): void {
    stream.stop();
    this.#streams.delete(stream);
  }

  /** The connection is there. */
  live(): void {
    for (const stream of this.#streams) stream.linkLive();
  }

  /** The connection is gone. */
  lost(): void {
    this.#open.clear();
    for (const stream of this.#streams) stream.linkLost();
  }

  /** What the hub said about a channel. */
  said(frame: Extract<FromHub, { type: "watching" | "unwatched" }>): void {
    const stream = this.#open.get(frame.channel);
    if (frame.type === "unwatched") this.#open.delete(frame.channel);
    stream?.said(frame);
  }

  /** What a terminal said. */
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
    resize: (channel, cols, rows) => void this.#sender.tell({ type: "resize", channel, cols, rows }),
  };
}
