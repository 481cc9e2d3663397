/** What draws a terminal: an emulator whose writes are parsed later, in order. */
export type Screen = {
  /** Takes another size and keeps what it shows. */
  resize?(cols: number, rows: number): void;
  /** Becomes a fresh screen of this size, at once. */
  reset(cols: number, rows: number): void;
  /** Takes bytes; says when they were parsed. */
  write(bytes: Uint8Array, parsed: () => void): void;
};

type Picture = { cols: number; rows: number; bytes: Uint8Array; parsed: () => void };

/** Ends any half-read escape sequence or character. */
const CANCEL = new Uint8Array([0x18]);

const NOTHING = new Uint8Array();

/** Keeps snapshots and output in order: a reset acts at once, but what was written before it may not be parsed yet. */
export class Painter {
  readonly #screen: Screen;
  #picture: Picture | null = null;
  #behind: { bytes: Uint8Array; parsed: () => void }[] = [];

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Shows a whole screen in place of everything before it. */
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

  /** Takes another size, after everything that was written before. */
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
