import { describe, expect, it } from "vitest";
import { decodeTerminal, type TerminalFrame } from "../../link/terminal";
import type { ToHub } from "../../protocol";
import { Channels } from "./channels";
import type { Screen } from "./painter";

const text = (value: string) => new TextEncoder().encode(value);

/** An emulator that parses on demand. */
class LazyScreen implements Screen {
  shown = "";
  size = [0, 0];
  #queue: { bytes: Uint8Array; parsed: () => void }[] = [];

  reset(cols: number, rows: number) {
    this.shown = "";
    this.size = [cols, rows];
  }
  write(bytes: Uint8Array, parsed: () => void) {
    this.#queue.push({ bytes, parsed });
  }
  parse(most = Infinity) {
    for (let count = 0; count < most && this.#queue.length > 0; count++) {
      const one = this.#queue.shift();
      this.shown += new TextDecoder().decode(one?.bytes).replace("\x18", "");
      one?.parsed();
    }
  }
}

function setUp() {
  const told: ToHub[] = [];
  const sent: TerminalFrame[] = [];
  let connected = true;
  const channels = new Channels({
    tell: (frame) => connected && Boolean(told.push(frame)),
    send: (bytes) => connected && Boolean(sent.push(decodeTerminal(bytes.buffer) as TerminalFrame)),
  });
  const screen = new LazyScreen();
  const stream = channels.stream("ses", screen, () => undefined);
  const watches = () => told.filter((frame) => frame.type === "watch");
  const channel = () => watches().at(-1)?.channel ?? 0;
  return {
    channels,
    screen,
    stream,
    told,
    sent,
    watches,
    channel,
    cut: () => {
      connected = false;
      channels.lost();
    },
    join: () => {
      connected = true;
      channels.live();
    },
    watching: (may_type = true, reachable = true) =>
      channels.said({ type: "watching", channel: channel(), session: "ses", may_type, reachable }),
    snapshot: (offset: number, value: string, cols = 80, rows = 24) =>
      channels.heard({
        kind: "snapshot",
        channel: channel(),
        offset,
        cols,
        rows,
        title: "t",
        bytes: text(value),
      }),
    data: (offset: number, value: string, on = channel()) =>
      channels.heard({ kind: "data", channel: on, offset, bytes: text(value) }),
    credits: () => sent.flatMap((frame) => (frame.kind === "credit" ? [frame.offset] : [])),
  };
}

describe("a watched terminal", () => {
  it("starts with a snapshot and continues by offset", () => {
    const { stream, screen, watching, snapshot, data, watches } = setUp();
    stream.start();
    expect(watches()).toEqual([{ type: "watch", channel: 1, session: "ses" }]);
    watching();
    expect(stream.watched.phase).toBe("asking");
    snapshot(100, "screen|");
    data(100, "abc");
    data(103, "def");
    screen.parse();
    expect(screen.shown).toBe("screen|abcdef");
    expect(screen.size).toEqual([80, 24]);
    expect(stream.watched).toMatchObject({ phase: "live", mayType: true, title: "t", cols: 80, rows: 24 });
  });

  it("ignores duplicate output", () => {
    const { stream, screen, snapshot, data } = setUp();
    stream.start();
    snapshot(10, "");
    data(10, "abcdef");
    data(10, "abc");
    data(13, "defgh");
    screen.parse();
    expect(screen.shown).toBe("abcdefgh");
    expect(stream.offset).toBe(18);
  });

  it("resumes after a gap, then requests a snapshot", () => {
    const { stream, screen, snapshot, data, watches, told, channel } = setUp();
    stream.start();
    snapshot(10, "");
    data(10, "abc");
    const old = channel();
    data(20, "lost");
    expect(told).toContainEqual({ type: "unwatch", channel: old });
    expect(watches().at(-1)).toMatchObject({ from: 13 });
    data(13, "late, on the old channel", old);
    data(20, "lost");
    expect(watches().at(-1)).not.toHaveProperty("from");
    snapshot(24, "all");
    screen.parse();
    expect(screen.shown).toBe("all");
    data(30, "x");
    expect(watches().at(-1)).toMatchObject({ from: 24 });
  });

  it("resumes by offset after a disconnection, and accepts a snapshot instead", () => {
    const { stream, screen, snapshot, data, watches, cut, join } = setUp();
    stream.start();
    snapshot(0, "");
    data(0, "abc");
    cut();
    expect(stream.watched).toMatchObject({ phase: "asking", mayType: false });
    join();
    expect(watches().at(-1)).toMatchObject({ channel: 2, from: 3 });
    data(3, "def");
    cut();
    join();
    snapshot(5_000, "new screen", 100, 30);
    screen.parse();
    expect(screen.shown).toBe("new screen");
    expect(screen.size).toEqual([100, 30]);
  });

  it("keeps the order of output and snapshots", () => {
    const { stream, screen, snapshot, data } = setUp();
    stream.start();
    snapshot(0, "one");
    data(0, "old");
    snapshot(50, "two");
    data(50, "between");
    snapshot(90, "three");
    data(90, "new");
    screen.parse();
    expect(screen.shown).toBe("threenew");
  });

  it("moves back to the offset of a snapshot", () => {
    const { stream, screen, snapshot, data } = setUp();
    stream.start();
    snapshot(0, "");
    data(0, "abcdef");
    snapshot(4, "abcd");
    data(4, "ef");
    screen.parse();
    expect(screen.shown).toBe("abcdef");
  });
});

describe("credit", () => {
  it("is sent for parsed output, not for received output", () => {
    const { stream, screen, snapshot, data, credits } = setUp();
    stream.start();
    snapshot(0, "");
    data(0, "abc");
    expect(credits()).toEqual([]);
    screen.parse();
    expect(credits()).toEqual([0, 3]);
  });

  it("is sent in steps, and for the rest at a pause", () => {
    const { stream, screen, snapshot, data, credits } = setUp();
    stream.start();
    snapshot(0, "");
    screen.parse();
    for (let at = 0; at < 10; at++) data(at * 10_000, "x".repeat(10_000));
    screen.parse();
    expect(credits()).toEqual([0, 40_000, 80_000, 100_000]);
  });

  it("is not sent while nothing is parsed", () => {
    const { stream, screen, snapshot, data, credits } = setUp();
    stream.start();
    snapshot(0, "");
    screen.parse();
    for (let at = 0; at < 10; at++) data(at * 10_000, "x".repeat(10_000));
    screen.parse(2);
    expect(credits()).toEqual([0]);
    snapshot(500_000, "now");
    screen.parse();
    expect(credits().at(-1)).toBe(500_000);
  });
});

describe("typing", () => {
  it("reaches the terminal only with permission, split into frames", () => {
    const { stream, watching, snapshot, sent } = setUp();
    stream.start();
    watching(false);
    snapshot(0, "");
    stream.type(text("no"));
    expect(sent.filter((frame) => frame.kind === "input")).toEqual([]);
    watching(true);
    stream.type(new Uint8Array(70_000));
    const sizes = sent.flatMap((frame) => (frame.kind === "input" ? [frame.bytes.length] : []));
    expect(sizes).toEqual([32_768, 32_768, 4_464]);
  });

  it("and resizing stop when the session has ended", () => {
    const { stream, watching, snapshot, channels, channel, told } = setUp();
    stream.start();
    watching(true);
    snapshot(0, "");
    stream.resize(80, 24);
    stream.resize(90, 20);
    channels.heard({ kind: "exit", channel: channel(), offset: 0, code: 3, signal: null });
    stream.resize(100, 20);
    expect(told.filter((frame) => frame.type === "resize")).toEqual([
      { type: "resize", channel: channel(), cols: 90, rows: 20 },
    ]);
    expect(stream.watched).toMatchObject({ exit: { code: 3, signal: null }, mayType: false });
    watching(true);
    expect(stream.watched.mayType).toBe(false);
  });
});

describe("the size", () => {
  it("is reported by every view, and taken by the one that types", () => {
    const { stream, told, watching, channels, channel } = setUp();
    const screen = (cols: number, rows: number) =>
      channels.heard({
        kind: "snapshot",
        channel: channel(),
        offset: 0,
        cols,
        rows,
        title: "",
        bytes: text(""),
      });
    const resizes = () =>
      told.filter((frame) => frame.type === "resize").map(({ cols, take }) => [cols, take]);
    stream.start();
    watching(true);
    screen(80, 24);
    stream.resize(120, 40);
    expect(resizes()).toEqual([[120, undefined]]);
    stream.takeSize();
    screen(120, 40);
    stream.takeSize();
    expect(resizes().slice(1)).toEqual([[120, true]]);
    // Another view types.
    screen(42, 47);
    expect(resizes().length).toBe(2);
    stream.takeSize();
    expect(resizes().slice(2)).toEqual([[120, true]]);
  });
});

describe("stopping and starting", () => {
  it("unwatches, and resumes by offset", () => {
    const { stream, snapshot, data, told, watches, screen } = setUp();
    stream.start();
    snapshot(0, "");
    data(0, "abc");
    stream.stop();
    expect(told.at(-1)).toEqual({ type: "unwatch", channel: 1 });
    data(3, "unseen", 1);
    stream.start();
    expect(watches().at(-1)).toMatchObject({ from: 3 });
    data(3, "seen");
    screen.parse();
    expect(screen.shown).toBe("abcseen");
  });

  it("shows the problem of a denial and tries again after reconnecting", () => {
    const { stream, channels, channel, watches, cut, join, snapshot, data, screen } = setUp();
    stream.start();
    snapshot(0, "secret");
    data(0, "more");
    screen.parse();
    const problem = { kind: "not_found" as const, status: 404, detail: "gone" };
    channels.said({ type: "unwatched", channel: channel(), problem });
    expect(stream.watched).toMatchObject({ phase: "refused", problem, title: "" });
    screen.parse();
    expect(screen.shown).toBe("");
    cut();
    join();
    expect(watches()).toHaveLength(2);
    expect(watches().at(-1)).not.toHaveProperty("from");
  });
});
