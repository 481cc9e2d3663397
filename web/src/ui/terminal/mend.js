// Fixes for differences between xterm.js 6.0 and other terminals, so that a page that joins late shows the same screen.
// Uses internals of the emulator, whose version is pinned. Plain JavaScript, because the session host's tests run it too.

/** xterm.js loops as often as a program requests, up to two billion times. Larger counts have no effect. */
const COUNTED = {
  L: ["insertLines", (terminal) => terminal.rows],
  M: ["deleteLines", (terminal) => terminal.rows],
  S: ["scrollUp", (terminal) => terminal.rows],
  T: ["scrollDown", (terminal) => terminal.rows],
  I: ["cursorForwardTab", (terminal) => terminal.cols],
  Z: ["cursorBackwardTab", (terminal) => terminal.cols],
  b: ["repeatPrecedingCharacter", () => 65_535],
};

function boundCounts(terminal, input) {
  for (const [final, [name, most]] of Object.entries(COUNTED)) {
    terminal.parser.registerCsiHandler({ final }, ([count]) => {
      const limit = most(terminal);
      if (!(count > limit)) return false;
      return input[name]({ params: [limit], length: 1 });
    });
  }
}

/** xterm.js throws and stops parsing when a program erases up to the cursor in the very last cell. */
function eraseUpToTheLastCell(terminal, input, buffers) {
  terminal.parser.registerCsiHandler({ final: "J" }, (params) => {
    const { cursorX, cursorY } = terminal.buffer.active;
    if (params[0] !== 1 || cursorX < terminal.cols - 1 || cursorY < terminal.rows - 1) return false;
    const { buffer } = buffers;
    const { x } = buffer;
    buffer.x = terminal.cols - 2;
    input.eraseInDisplay({ params: [1] });
    buffer.x = x;
    input._eraseInBufferLine(buffer.y, terminal.cols - 1, terminal.cols);
    return true;
  });
}

/** The saved cursor of xterm.js moves when lines scroll and loses the underline style. */
function saveTheCursor(input, buffers) {
  const save = input.saveCursor.bind(input);
  const restore = input.restoreCursor.bind(input);
  const reset = input.softReset.bind(input);
  input.saveCursor = (params) => {
    const { buffer } = buffers;
    buffer.savedCurAttrData.extended = input._curAttrData.extended.clone();
    const done = save(params);
    buffer.savedY = buffer.y;
    return done;
  };
  input.restoreCursor = (params) => {
    const { buffer } = buffers;
    const { savedY } = buffer;
    buffer.savedY += buffer.ybase;
    input._curAttrData.extended = buffer.savedCurAttrData.extended.clone();
    const done = restore(params);
    buffer.savedY = savedY;
    return done;
  };
  input.softReset = (params) => {
    const done = reset(params);
    const { buffer } = buffers;
    buffer.savedY = 0;
    buffer.savedCurAttrData.extended = input._curAttrData.extended.clone();
    return done;
  };
}

/** In origin mode, a step left or right also moves the cursor of xterm.js down. */
function moveTheCursor(input, buffers) {
  input._moveCursor = (x, y) => {
    input._restrictCursor();
    buffers.buffer.x += x;
    buffers.buffer.y += y;
    input._restrictCursor();
  };
}

/** Patches a new terminal. */
export function mend(terminal) {
  const { _inputHandler: input, _bufferService: buffers, coreService: core } = terminal._core;
  boundCounts(terminal, input);
  eraseUpToTheLastCell(terminal, input, buffers);
  saveTheCursor(input, buffers);
  moveTheCursor(input, buffers);
  // A reset shows the cursor and turns off automatic carriage returns.
  terminal.parser.registerEscHandler({ final: "c" }, () => {
    core.isCursorHidden = false;
    terminal.options.convertEol = false;
    return false;
  });
}
