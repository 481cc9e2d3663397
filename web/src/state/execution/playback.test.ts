import { describe, expect, it } from "vitest";
import type { RecordingPart } from "../../protocol";
import { Playback } from "./playback";

const PARTS: RecordingPart[] = [0, 10_000, 20_000].map((from, index) => ({
  screen: btoa(`[screen ${index}]`),
  cols: 80,
  rows: 24,
  from_ms: from,
  next_ms: from === 20_000 ? null : from + 10_000,
  events: [
    { at_ms: from + 100, code: "o", data: `a${index}` },
    { at_ms: from + 5_000, code: "m", data: "marker" },
    { at_ms: from + 9_000, code: "o", data: `b${index}` },
    { at_ms: from + 9_500, code: "r", data: "100x30" },
  ],
}));

function setUp() {
  const asked: number[] = [];
  const sizes: string[] = [];
  let shown = "";
  const screen = {
    reset: (cols: number, rows: number) => {
      shown = "";
      sizes.push(`${cols}x${rows}`);
    },
    resize: (cols: number, rows: number) => void sizes.push(`${cols}x${rows}`),
    write: (bytes: Uint8Array, parsed: () => void) => {
      shown += new TextDecoder().decode(bytes).replace("\x18", "");
      parsed();
    },
  };
  const fetch = (from: number) => {
    asked.push(from);
    return Promise.resolve(PARTS.findLast((part) => part.from_ms <= from) as RecordingPart);
  };
  return { playback: new Playback(screen, fetch), asked, sizes, shown: () => shown };
}

describe("a recording", () => {
  it("seeks without loading the parts between", async () => {
    const { playback, asked, shown } = setUp();
    await playback.seek(25_000);
    expect(shown()).toBe("[screen 2]a2");
    expect(asked).toEqual([25_000]);
    await playback.seek(29_200);
    expect(shown()).toBe("[screen 2]a2b2");
    await playback.seek(20_050);
    expect(shown()).toBe("[screen 2]");
    expect(asked).toEqual([25_000]);
  });

  it("continues with the next part without a redraw", async () => {
    const { playback, asked, shown, sizes } = setUp();
    await playback.seek(0);
    for (let step = 0; step < 12; step++) expect(await playback.advance(1_000, false)).toBe(true);
    expect(shown()).toBe("[screen 0]a0b0a1");
    expect(asked).toEqual([0, 10_000]);
    expect(sizes).toEqual(["80x24", "100x30"]);
  });

  it("shows its first picture at position 0 and plays from the start", async () => {
    const { playback, shown } = setUp();
    await playback.seek(0);
    expect(shown()).toBe("[screen 0]a0");
    expect(playback.now).toBe(0);
    await playback.advance(150, false);
    expect([shown(), playback.now]).toEqual(["[screen 0]a0", 150]);
    await playback.seek(50);
    expect(shown()).toBe("[screen 0]");
    await playback.seek(0);
    expect(shown()).toBe("[screen 0]a0");
  });

  it("uses the first output with text as its first picture", async () => {
    const at = (at_ms: number, data: string) => ({ at_ms, code: "o" as const, data });
    const events = [
      at(10, "\x1b[?1049h\x1b[2J\x1b]0;title\x07\r\n "),
      at(900, "\x1b[1mwords"),
      at(1_100, "!"),
      at(2_000, "later"),
    ];
    let shown = "";
    const screen = {
      reset: () => undefined,
      write: (bytes: Uint8Array, parsed: () => void) => {
        shown += new TextDecoder().decode(bytes);
        parsed();
      },
    };
    const part = { screen: "", cols: 80, rows: 24, from_ms: 0, next_ms: null, events };
    await new Playback(screen, () => Promise.resolve(part)).seek(0);
    expect(shown).toMatch(/words!$/);
  });

  it("reports its end", async () => {
    const { playback } = setUp();
    await playback.seek(29_000);
    expect(await playback.advance(100, false)).toBe(true);
    expect(await playback.advance(1_000, false)).toBe(false);
  });

  it("skips only pauses", async () => {
    const { playback, shown } = setUp();
    await playback.seek(200);
    await playback.advance(10, true);
    expect(playback.now).toBe(8_600);
    await playback.advance(500, true);
    expect(shown()).toBe("[screen 0]a0b0");
  });

  it("shows the last seek position when an earlier part arrives late", async () => {
    const { playback, shown } = setUp();
    await Promise.all([playback.seek(15_000), playback.seek(5_000)]);
    expect(shown()).toBe("[screen 0]a0");
    expect(playback.now).toBe(5_000);
  });
});
