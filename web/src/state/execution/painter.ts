/** A terminal emulator, which parses writes asynchronously and in order. */
export type Screen = {
  /** Resizes and keeps the content. */
  resize?(cols: number, rows: number): void;
  /** Resets to an empty screen of this size, immediately. */
  reset(cols: number, rows: number): void;
  /** Writes bytes; calls `parsed` after parsing. */
  write(bytes: Uint8Array, parsed: () => void): void;
};

type Picture = { cols: number; rows: number; bytes: Uint8Array; parsed: () => void };

/** Cancels an unfinished escape sequence or character. */
const CANCEL = new Uint8Array([0x18]);

const NOTHING = new Uint8Array();

/** Orders snapshots and output: a reset acts immediately, while earlier writes may not be parsed yet. */
export class Painter {
  readonly #screen: Screen;
  #picture: Picture | null = null;
  #behind: { bytes: Uint8Array; parsed: () => void }[] = [];

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Replaces the content with a snapshot. */
  paint(picture: Picture): void {
    const waits = this.#picture !== null;
    this.#picture = picture;
    this.#behind = [];
    if (!waits) this.#screen.write(CANCEL, () => this.#apply());
  }

  /** Adds output. */
  write(bytes: Uint8Array, parsed: () => void): void {
    if (this.#picture) this.#behind.push({ bytes, parsed });
    else this.#screen.write(bytes, parsed);
  }

  /** Resizes after all earlier writes. */
  resize(cols: number, rows: number): void {
    this.write(NOTHING, () => this.#screen.resize?.(cols, rows));
  }

  #apply(): void {
    const picture = this.#picture;
    if (!picture) return;
    this.#picture = null;
    this.#screen.reset(picture.cols, picture.rows);
    this.#screen.write(picture.bytes, picture.parsed);
    const behind = this.#behind;
    this.#behind = [];
    for (const one of behind) this.#screen.write(one.bytes, one.parsed);
  }
}
