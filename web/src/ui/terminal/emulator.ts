import { FitAddon } from "@xterm/addon-fit";
import { SearchAddon } from "@xterm/addon-search";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { WebglAddon } from "@xterm/addon-webgl";
import { type ITheme, Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { contain, plainTitle, webTarget } from "./contain";
import { mend } from "./mend.js";
import { withSheets } from "./styles";
import { provider } from "./widths.js";

/** The events of a terminal. */
export type Events = {
  typed: (bytes: Uint8Array) => void;
  title: (title: string) => void;
  /** A link was clicked; the page asks before it opens the link. */
  link: (target: URL) => void;
  /** The pointer entered or left a link. */
  hover: (target: string | null) => void;
  /** A program wants to copy a text. */
  clipboard: (text: string) => void;
  /** Whether a key is a shortcut of the page. */
  isPageKey: (event: KeyboardEvent) => boolean;
  focus: () => void;
  /** A person typed into the read-only terminal. */
  refused: () => void;
  /** The screen was resized or loaded. */
  resized: () => void;
};

/** The colours of a terminal. */
export type Look = { accent: string; ground: string };

const SCROLLBACK = 5_000;
/** Minimum font size of a scaled screen; a larger screen scrolls. */
const LEGIBLE = 5;
/** Minimum readable font size. */
const READABLE = 10;

/** A reusable xterm.js terminal that answers no queries and opens nothing by itself. */
export class Emulator {
  readonly #terminal: Terminal;
  readonly #fit = new FitAddon();
  readonly #search = new SearchAddon();
  #gpu: WebglAddon | null = null;
  #events: Partial<Events> = {};
  #baseSize = 13;
  /** Whether nothing was written since the last reset. */
  #empty = true;
  found = { index: -1, count: 0 };
  onFound: () => void = () => undefined;

  constructor() {
    this.#terminal = new Terminal({
      allowProposedApi: true,
      disableStdin: true,
      scrollback: SCROLLBACK,
      fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--mono"),
      fontSize: this.#baseSize,
      letterSpacing: 0,
      cursorBlink: false,
      cursorInactiveStyle: "outline",
      minimumContrastRatio: 1,
      rightClickSelectsWord: false,
      windowOptions: {},
      logLevel: "off",
      linkHandler: {
        activate: (_, text) => this.#follow(text),
        hover: (_, text) => this.#events.hover?.(webTarget(text)?.href ?? null),
        leave: () => this.#events.hover?.(null),
      },
    });
    const terminal = this.#terminal;
    contain(terminal, () => ({ clipboard: (text) => this.#events.clipboard?.(text) }));
    mend(terminal);
    terminal.loadAddon(this.#fit);
    terminal.loadAddon(this.#search);
    // The same character widths as in the session host, or positions would differ.
    terminal.unicode.register(provider);
    terminal.unicode.activeVersion = provider.version;
    terminal.loadAddon(
      new WebLinksAddon((_, text) => this.#follow(text), {
        hover: (_, text) => this.#events.hover?.(webTarget(text)?.href ?? null),
        leave: () => this.#events.hover?.(null),
      }),
    );
    terminal.onData((text) => this.#events.typed?.(new TextEncoder().encode(text)));
    terminal.onBinary((text) =>
      this.#events.typed?.(Uint8Array.from(text, (letter) => letter.charCodeAt(0) & 255)),
    );
    terminal.onResize(() => this.#events.resized?.());
    terminal.onTitleChange((title) => this.#events.title?.(plainTitle(title)));
    terminal.attachCustomKeyEventHandler((event) => this.#wantsKey(event));
    this.#search.onDidChangeResults(({ resultIndex, resultCount }) => {
      this.found = { index: resultIndex, count: resultCount };
      this.onFound();
    });
  }

  /** Sets the colours. */
  colour(look: Look): void {
    this.#terminal.options.theme = theme(look);
  }

  /** Attaches it to an element, with event handlers. */
  attach(parent: HTMLElement, events: Partial<Events>, look: Look): void {
    this.#events = events;
    this.colour(look);
    const { element } = this.#terminal;
    if (element) parent.append(element);
    else withSheets(this.#terminal, () => this.#terminal.open(parent));
    this.#terminal.textarea?.addEventListener("focus", this.#focused);
  }

  /** Detaches it from the page and keeps its content. */
  detach(): void {
    this.#events = {};
    this.setGpu(false);
    this.#terminal.textarea?.removeEventListener("focus", this.#focused);
    this.#terminal.element?.remove();
  }

  /** Clears everything, for the next session. */
  clear(): void {
    this.detach();
    this.#search.clearDecorations();
    this.#terminal.options.disableStdin = true;
    this.#terminal.reset();
  }

  /** Resets to an empty screen of this size. */
  reset(cols: number, rows: number): void {
    this.#terminal.reset();
    this.#empty = true;
    if (cols > 0 && rows > 0) this.#terminal.resize(cols, rows);
  }

  /** Resizes and keeps the content. */
  resize(cols: number, rows: number): void {
    this.#terminal.resize(cols, rows);
  }

  /** Writes output; calls back after parsing. */
  write(bytes: Uint8Array | string, parsed?: () => void): void {
    const first = this.#empty;
    this.#empty = false;
    const loaded = () => {
      parsed?.();
      this.#events.resized?.();
    };
    this.#terminal.write(bytes, first ? loaded : parsed);
  }

  /** Whether it accepts input. */
  set typing(value: boolean) {
    if (this.#terminal.options.disableStdin === value) this.#terminal.options.disableStdin = !value;
  }

  /** Whether screen reader support is on. */
  set reader(value: boolean) {
    if (this.#terminal.options.screenReaderMode !== value) this.#terminal.options.screenReaderMode = value;
  }

  /** The accessible name. */
  set label(value: string) {
    this.#terminal.textarea?.setAttribute("aria-label", value);
  }

  /** The font size when the element determines the terminal size. */
  set fontSize(value: number) {
    this.#baseSize = value;
  }

  /** The columns and rows that fit into the element. */
  proposed(): { cols: number; rows: number } | null {
    if (this.#terminal.options.fontSize !== this.#baseSize) this.#terminal.options.fontSize = this.#baseSize;
    const fits = this.#fit.proposeDimensions();
    if (!fits || !Number.isFinite(fits.cols) || !Number.isFinite(fits.rows)) return null;
    return { cols: Math.min(500, Math.max(20, fits.cols)), rows: Math.min(300, Math.max(5, fits.rows)) };
  }

  /**
   * Chooses the font size so that the whole screen is visible; `own` if the screen was resized to fit. The font has a
   * minimum size, a larger one with `readable`; then the element scrolls, to the cursor first.
   */
  scale(place: HTMLElement, own: boolean, readable = false): void {
    const screen = this.#terminal.element?.querySelector<HTMLElement>(".xterm-screen");
    const now = this.#terminal.options.fontSize ?? this.#baseSize;
    if (own || !screen || screen.offsetWidth === 0 || place.clientWidth === 0)
      return this.#draw(this.#baseSize);
    const [wide, high] = [place.clientWidth - 18, place.clientHeight - 8];
    const ratio = Math.min(wide / screen.offsetWidth, high / screen.offsetHeight);
    const least = Math.min(readable ? READABLE : LEGIBLE, this.#baseSize);
    let size = Math.min(this.#baseSize * 1.3, Math.max(least, Math.floor(now * ratio * 10) / 10));
    this.#draw(size);
    // Cells have whole pixels: a slightly larger font can add a pixel to every row.
    while (size > least && (screen.offsetWidth > wide || screen.offsetHeight > high)) {
      size = Math.max(least, size - 0.1);
      this.#draw(size);
    }
    if (size <= least) {
      place.scrollLeft = 0;
      const row = screen.offsetHeight / this.#terminal.rows;
      place.scrollTop = (this.#terminal.buffer.active.cursorY + 1) * row - high;
    }
  }

  #draw(size: number): void {
    if (Math.abs(size - (this.#terminal.options.fontSize ?? 0)) > 0.05)
      this.#terminal.options.fontSize = size;
  }

  /** Turns GPU rendering on or off; falls back to the DOM renderer. */
  setGpu(wanted: boolean): void {
    if (!wanted) {
      withSheets(this.#terminal, () => this.#gpu?.dispose());
      this.#gpu = null;
      return;
    }
    if (this.#gpu || !hasGpu()) return;
    try {
      const gpu = new WebglAddon();
      gpu.onContextLoss(() => this.setGpu(false));
      withSheets(this.#terminal, () => this.#terminal.loadAddon(gpu));
      this.#gpu = gpu;
    } catch {
      this.#gpu = null;
    }
  }

  /** Focuses the terminal. */
  focus(): void {
    this.#terminal.focus();
  }

  /** The selected text. */
  get selection(): string {
    return this.#terminal.getSelection();
  }

  /** Pastes a text. */
  paste(text: string): void {
    this.#terminal.paste(text);
  }

  /** Searches a text, forwards or backwards. */
  find(text: string, direction: "next" | "previous", incremental = false): void {
    const options = {
      incremental,
      decorations: {
        matchBackground: "#5b4a00",
        matchOverviewRuler: "#f59e0b",
        activeMatchBackground: "#a16207",
        activeMatchColorOverviewRuler: "#f59e0b",
      },
    };
    if (!text) return this.endFind();
    if (direction === "next") this.#search.findNext(text, options);
    else this.#search.findPrevious(text, options);
  }

  /** Ends the search. */
  endFind(): void {
    this.#search.clearDecorations();
    this.found = { index: -1, count: 0 };
    this.onFound();
  }

  #focused = () => this.#events.focus?.();

  #follow(text: string): void {
    const target = webTarget(text);
    if (target) this.#events.link?.(target);
  }

  #wantsKey(event: KeyboardEvent): boolean {
    // A read-only terminal leaves all keys to the page.
    if (this.#terminal.options.disableStdin) {
      const types = event.key.length === 1 || event.key === "Enter" || event.key === "Backspace";
      if (event.type === "keydown" && types && !event.ctrlKey && !event.metaKey && !event.altKey)
        this.#events.refused?.();
      return false;
    }
    return !(this.#events.isPageKey?.(event) ?? false);
  }
}

let gpu: boolean | null = null;

// Software rendering of WebGL is slower than the DOM renderer.
function hasGpu(): boolean {
  gpu ??= isReal(
    document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true }),
  );
  return gpu;
}

function isReal(context: WebGL2RenderingContext | null): boolean {
  if (!context) return false;
  const info = context.getExtension("WEBGL_debug_renderer_info");
  const name = String(context.getParameter(info?.UNMASKED_RENDERER_WEBGL ?? context.RENDERER));
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return !/swiftshader|llvmpipe|software|basic render/i.test(name);
}

function theme({ accent, ground }: Look): ITheme {
  return {
    background: ground,
    foreground: "#d6d6dd",
    cursor: accent,
    cursorAccent: ground,
    selectionBackground: `${accent}66`,
    black: "#1c1c22",
    red: "#f0616d",
    green: "#4ec38a",
    yellow: "#e0b14a",
    blue: "#6c9ef8",
    magenta: "#c58af9",
    cyan: "#4fc1d0",
    white: "#c9c9d1",
    brightBlack: "#7d7d8a",
    brightRed: "#ff8a92",
    brightGreen: "#79e0a9",
    brightYellow: "#f5cf74",
    brightBlue: "#95baff",
    brightMagenta: "#daaeff",
    brightCyan: "#7cdbe7",
    brightWhite: "#f4f4f7",
    scrollbarSliderBackground: "#ffffff22",
    scrollbarSliderHoverBackground: "#ffffff44",
    scrollbarSliderActiveBackground: "#ffffff66",
  };
}
