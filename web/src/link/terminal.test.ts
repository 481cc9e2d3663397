import { describe, expect, it } from "vitest";
import { decodeTerminal, encodeTerminal, type TerminalFrame } from "./terminal";

const bytes = new Uint8Array([0, 27, 255, 128]);
const FRAMES: TerminalFrame[] = [
  { kind: "snapshot", channel: 7, offset: 2 ** 40 + 3, cols: 120, rows: 32, title: "vi – ☕", bytes },
  { kind: "snapshot", channel: 0, offset: 0, cols: 1, rows: 65_535, title: "", bytes: new Uint8Array() },
  { kind: "data", channel: 2 ** 32 - 1, offset: Number.MAX_SAFE_INTEGER, bytes },
  { kind: "exit", channel: 1, offset: 9, code: -1, signal: null },
  { kind: "exit", channel: 1, offset: 9, code: null, signal: 9 },
  { kind: "input", channel: 1, bytes },
  { kind: "credit", channel: 1, offset: 262_144 },
];

describe("terminal frames", () => {
  it("survive encoding and decoding", () => {
    for (const frame of FRAMES) expect(decodeTerminal(encodeTerminal(frame).buffer)).toEqual(frame);
  });

  it("have the byte layout of the hub", () => {
    const input = encodeTerminal({ kind: "input", channel: 258, bytes: new Uint8Array([65]) });
    expect([...input]).toEqual([4, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 65]);
    const credit = encodeTerminal({ kind: "credit", channel: 1, offset: 65_536 });
    expect([...credit]).toEqual([5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0]);
  });

  it("are rejected when truncated or unknown", () => {
    for (const frame of FRAMES) {
      const whole = encodeTerminal(frame);
      expect(decodeTerminal(whole.buffer.slice(0, 12))).toBeNull();
    }
    const snapshot = encodeTerminal(FRAMES[0] as TerminalFrame);
    expect(decodeTerminal(snapshot.buffer.slice(0, 20))).toBeNull();
    const exit = encodeTerminal(FRAMES[3] as TerminalFrame);
    expect(decodeTerminal(exit.buffer.slice(0, 22))).toBeNull();
    expect(decodeTerminal(new Uint8Array(13).fill(9).buffer)).toBeNull();
    expect(
      decodeTerminal(new Uint8Array([...encodeTerminal(FRAMES[6] as TerminalFrame), 0]).buffer),
    ).toBeNull();
  });
});
