/** A binary frame of a terminal channel. */
export type TerminalFrame =
  | {
      kind: "snapshot";
      channel: number;
      offset: number;
      cols: number;
      rows: number;
      title: string;
      bytes: Uint8Array;
    }
  | { kind: "data"; channel: number; offset: number; bytes: Uint8Array }
  | { kind: "exit"; channel: number; offset: number; code: number | null; signal: number | null }
  | { kind: "input"; channel: number; bytes: Uint8Array }
  | { kind: "credit"; channel: number; offset: number };

const SNAPSHOT = 1;
const DATA = 2;
const EXIT = 3;
const INPUT = 4;
const CREDIT = 5;
const HEAD = 13;

/** Encodes a frame: kind, channel, offset in big-endian, then the payload. */
export function encodeTerminal(frame: TerminalFrame): Uint8Array<ArrayBuffer> {
  switch (frame.kind) {
    case "snapshot": {
      const title = new TextEncoder().encode(frame.title);
      const [bytes, view] = head(
        SNAPSHOT,
        frame.channel,
        frame.offset,
        6 + title.length + frame.bytes.length,
      );
      view.setUint16(HEAD, frame.cols);
      view.setUint16(HEAD + 2, frame.rows);
      view.setUint16(HEAD + 4, title.length);
      bytes.set(title, HEAD + 6);
      bytes.set(frame.bytes, HEAD + 6 + title.length);
      return bytes;
    }
    case "data":
    case "input": {
      const [kind, offset] = frame.kind === "data" ? [DATA, frame.offset] : [INPUT, 0];
      const [bytes] = head(kind, frame.channel, offset, frame.bytes.length);
      bytes.set(frame.bytes, HEAD);
      return bytes;
    }
    case "exit": {
      const [bytes, view] = head(EXIT, frame.channel, frame.offset, 10);
      [frame.code, frame.signal].forEach((part, index) => {
        view.setUint8(HEAD + index * 5, part === null ? 0 : 1);
        view.setInt32(HEAD + index * 5 + 1, part ?? 0);
      });
      return bytes;
    }
    case "credit":
      return head(CREDIT, frame.channel, frame.offset, 0)[0];
  }
}

/** Decodes a frame; null for invalid bytes. */
export function decodeTerminal(buffer: ArrayBuffer): TerminalFrame | null {
  if (buffer.byteLength < HEAD) return null;
  const view = new DataView(buffer);
  const channel = view.getUint32(1);
  const offset = Number(view.getBigUint64(5));
  const rest = new Uint8Array(buffer, HEAD);
  switch (view.getUint8(0)) {
    case SNAPSHOT: {
      if (rest.length < 6) return null;
      const end = 6 + view.getUint16(HEAD + 4);
      if (rest.length < end) return null;
      const title = new TextDecoder().decode(rest.subarray(6, end));
      const [cols, rows] = [view.getUint16(HEAD), view.getUint16(HEAD + 2)];
      return { kind: "snapshot", channel, offset, cols, rows, title, bytes: rest.subarray(end) };
    }
    case DATA:
      return { kind: "data", channel, offset, bytes: rest };
    case EXIT: {
      if (rest.length !== 10) return null;
      const part = (at: number) => (view.getUint8(at) === 0 ? null : view.getInt32(at + 1));
      return { kind: "exit", channel, offset, code: part(HEAD), signal: part(HEAD + 5) };
    }
    case INPUT:
      return { kind: "input", channel, bytes: rest };
    case CREDIT:
      return rest.length === 0 ? { kind: "credit", channel, offset } : null;
    default:
      return null;
  }
}

function head(
  kind: number,
  channel: number,
  offset: number,
  more: number,
): [Uint8Array<ArrayBuffer>, DataView] {
  const bytes = new Uint8Array(HEAD + more);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, kind);
  view.setUint32(1, channel);
  view.setBigUint64(5, BigInt(offset));
  return [bytes, view];
}
