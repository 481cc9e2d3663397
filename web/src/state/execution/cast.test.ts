import { expect, it } from "vitest";
import type { RecordedEvent, RecordingDetail, RecordingPart } from "../../protocol";
import { session } from "../testing/samples";
import { asciicast, castName } from "./cast";

const started_at = "2026-11-15T10:00:00.000Z";
const detail: RecordingDetail = {
  session: session("s", { title: "Fix “x”" }),
  started_at,
  duration_ms: 61_500,
  cols: 80,
  rows: 24,
  markers: [],
};
const event = (at_ms: number, code: string, data: string): RecordedEvent => ({ at_ms, code, data });
const part = (from_ms: number, next_ms: number | null, ...events: RecordedEvent[]): RecordingPart => ({
  ...{ screen: btoa("scr\x1b[6neen"), cols: 80, rows: 24 },
  ...{ from_ms, next_ms, events },
});

it("an asciicast has a header and all parts, each event with the time since the one before", async () => {
  const parts = [
    part(0, 1_500, event(0, "o", "a\x1b[1m"), event(10, "o", "\x1b[c")),
    part(1_500, null, event(1_500, "r", "80x24"), event(1_500, "m", "prompt: x"), event(2_001, "x", "0")),
  ];
  const asked: number[] = [];
  const lines = await asciicast(detail, (from) => {
    asked.push(from);
    return Promise.resolve(parts[asked.length - 1] as RecordingPart);
  });
  expect(asked).toEqual([0, 1_500]);
  expect(JSON.parse(lines[0] ?? "")).toEqual({
    version: 3,
    term: { cols: 80, rows: 24, type: "xterm-256color" },
    timestamp: Date.parse(started_at) / 1000,
    title: "Fix “x”",
  });
  expect(lines.slice(1)).toEqual([
    '[0.000,"o","a\\u001b[1m"]',
    '[1.500,"r","80x24"]',
    '[0.000,"m","prompt: x"]',
    '[0.501,"x","0"]',
  ]);
});

it("a recording without its beginning opens with the screen", async () => {
  const only = part(60_000, null, event(61_000, "o", "b"), event(61_500, "o", "c"));
  const lines = await asciicast(detail, () => Promise.resolve(only));
  expect((JSON.parse(lines[0] ?? "") as { timestamp: number }).timestamp).toBe(
    Date.parse(started_at) / 1000 + 60,
  );
  expect(lines.slice(1)).toEqual(['[0.000,"o","screen"]', '[1.000,"o","b"]', '[0.500,"o","c"]']);
});

it("the name of the file is plain", () => {
  expect(castName("Fix “the parser”: tests/é!")).toBe("Fix-the-parser-tests-e.cast");
  expect(castName("../..")).toBe("recording.cast");
});
