import type { RecordedEvent, RecordingDetail, RecordingPart } from "../../protocol";
import { Quiet } from "./quiet";

/** Fetches one part of a recording. */
export type FetchPart = (from: number) => Promise<RecordingPart>;

/**
 * A recording as an asciicast (version 3), the same as `shopfloor recording export` writes. Calls `passed` with the time
 * reached after each part.
 */
export async function asciicast(
  detail: RecordingDetail,
  fetch: FetchPart,
  passed: (ms: number) => void = () => undefined,
): Promise<string[]> {
  let part = await fetch(0);
  const cast = new Cast(part.from_ms);
  const lines = [cast.header(detail, part)];
  const opening = cast.opening(part);
  if (opening) lines.push(opening);
  for (;;) {
    for (const event of part.events) {
      const line = cast.event(event);
      if (line) lines.push(line);
    }
    const { next_ms } = part;
    // A part that does not lead on would be fetched forever.
    if (next_ms === null || next_ms <= part.from_ms) return lines;
    passed(next_ms);
    part = await fetch(next_ms);
  }
}

/** The name of the downloaded file. */
export function castName(title: string): string {
  const plain = title
    .normalize("NFKD")
    .replace(/[^\w.-]+/gu, "-")
    .replace(/^[-.]+|[-.]+$/gu, "")
    .slice(0, 60);
  return `${plain || "recording"}.cast`;
}

/** Writes the lines; times count from the previous event. */
class Cast {
  readonly #from: number;
  readonly #quiet = new Quiet();
  #last: number;

  constructor(from: number) {
    this.#from = from;
    this.#last = from;
  }

  header(detail: RecordingDetail, { cols, rows }: RecordingPart): string {
    const timestamp = Math.floor((Date.parse(detail.started_at) + this.#from) / 1000);
    const term = { cols, rows, type: "xterm-256color" };
    return JSON.stringify({ version: 3, term, timestamp, title: detail.session.title });
  }

  // The screen at the beginning, if the bytes that drew it were deleted.
  opening({ screen }: RecordingPart): string | null {
    if (this.#from === 0) return null;
    const bytes = Uint8Array.from(atob(screen), (letter) => letter.charCodeAt(0));
    return this.event({ at_ms: this.#from, code: "o", data: new TextDecoder().decode(bytes) });
  }

  event({ at_ms, code, data }: RecordedEvent): string | null {
    const shown = code === "o" ? this.#quiet.push(data) : data;
    if (code === "o" && shown === "") return null;
    const at = Math.max(at_ms, this.#last);
    const seconds = ((at - this.#last) / 1000).toFixed(3);
    this.#last = at;
    return `[${seconds},${JSON.stringify(code)},${JSON.stringify(shown)}]`;
  }
}
