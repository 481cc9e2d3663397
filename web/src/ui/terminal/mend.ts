import type { Terminal } from "@xterm/xterm";

/** What is used of the emulator's inside; its version is pinned. */
type Inside = {
  _core: {
    _bufferService: { buffer: { x: number; y: number } };
    _inputHandler: {
      eraseInDisplay: (params: { params: number[] }) => boolean;
      _eraseInBufferLine: (row: number, start: number, end: number) => void;
    };
  };
};

/**
 * xterm.js 6.0 throws when a program erases up to the cursor while that is in the very last cell, and then never reads
 * on. There it is done in two steps: up to the cell before it, and the cell itself.
 */
export function mend(terminal: Terminal): void {
  terminal.parser.registerCsiHandler({ final: "J" }, (params) => {
    const { cursorX, cursorY } = terminal.buffer.active;
    if (params[0] !== 1 || cursorX < terminal.cols - 1 || cursorY < terminal.rows - 1) return false;
    const { _bufferService, _inputHandler } = (terminal as unknown as Inside)._core;
    const { buffer } = _bufferService;
    const { x } = buffer;
    buffer.x = terminal.cols - 2;
    _inputHandler.eraseInDisplay({ params: [1] });
    buffer.x = x;
    _inputHandler._eraseInBufferLine(buffer.y, terminal.cols - 1, terminal.cols);
    return true;
  });
}
