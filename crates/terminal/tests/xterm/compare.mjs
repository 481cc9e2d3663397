// Compares, cell by cell in the emulator of the page, a terminal that has seen every byte with terminals that were
// given a snapshot somewhere and the bytes after it. Reads jobs from the directory that is its argument, prints what
// differs, and ends with 1 if anything does.
import fs from "node:fs";
import path from "node:path";
import headless from "@xterm/headless";
import { mend } from "../../../../web/src/ui/terminal/mend.js";
import { provider } from "../../../../web/src/ui/terminal/widths.js";

const { Terminal } = headless;
const dir = process.argv[2];
const jobs = JSON.parse(fs.readFileSync(path.join(dir, "jobs.json"), "utf8"));
const read = (name) => fs.readFileSync(path.join(dir, name));
const write = (terminal, bytes) => new Promise((done) => terminal.write(bytes, done));

function open(cols, rows) {
  const terminal = new Terminal({ cols, rows, scrollback: 1000, allowProposedApi: true });
  mend(terminal);
  terminal.unicode.register(provider);
  terminal.unicode.activeVersion = provider.version;
  return terminal;
}

function colour(cell, which) {
  const value = cell[`get${which}Color`]();
  if (cell[`is${which}RGB`]()) return `#${value.toString(16)}`;
  if (cell[`is${which}Palette`]()) return `p${value}`;
  return "-";
}

function lineColour(cell) {
  if (cell.extended.underlineColor === -1 || (cell.extended.underlineColor & 0x3ffffff) === 0x3ffffff) return "";
  if (cell.isUnderlineColorRGB()) return `#${cell.getUnderlineColor().toString(16)}`;
  return cell.isUnderlineColorPalette() ? `p${cell.getUnderlineColor()}` : "";
}

const ATTRIBUTES = ["Bold", "Dim", "Italic", "Underline", "Blink", "Inverse", "Invisible", "Strikethrough"];

function describe(cell) {
  const text = cell.getChars() || " ";
  // The second half of a wide character that is gone keeps its width and is blank.
  const width = text === " " ? 1 : cell.getWidth();
  const drawn = text !== " " || cell.isInverse() || cell.isUnderline() || cell.isStrikethrough();
  const attributes = ATTRIBUTES.filter((name) => cell[`is${name}`]() && (drawn || name === "Inverse"));
  const underline = cell.isUnderline() ? `${cell.extended.underlineStyle}${lineColour(cell)}` : "";
  return [JSON.stringify(text), width, drawn ? colour(cell, "Fg") : "", colour(cell, "Bg"), attributes.join(), underline].join(" ");
}

// The same as comparing descriptions, but without making them.
function same(a, b) {
  if (a.content === b.content && a.fg === b.fg && a.bg === b.bg && !a.isUnderline()) return true;
  return describe(a) === describe(b);
}

function screens(left, right, cols, rows, out) {
  const [a, b] = [left.getNullCell(), right.getNullCell()];
  for (let y = 0; y < rows; y++) {
    const one = left.getLine(left.baseY + y);
    const other = right.getLine(right.baseY + y);
    for (let x = 0; x < cols; x++) {
      one.getCell(x, a);
      other.getCell(x, b);
      if (!same(a, b)) out.push([`${left.type} ${y},${x}: ${describe(a)}`, describe(b)]);
    }
  }
}

function rest(terminal) {
  const { buffer, modes } = terminal;
  const core = terminal._core.coreService;
  return [
    `${buffer.active.type} cursor ${buffer.active.cursorY},${buffer.active.cursorX}`,
    JSON.stringify(modes),
    `hidden ${core.isCursorHidden} ${JSON.stringify(core.decPrivateModes)}`,
  ];
}

let failures = 0;
function compare(left, right, what) {
  const different = [];
  screens(left.buffer.active, right.buffer.active, left.cols, left.rows, different);
  if (left.buffer.active.type === "alternate") screens(left.buffer.normal, right.buffer.normal, left.cols, left.rows, different);
  const [one, other] = [rest(left), rest(right)];
  one.forEach((text, at) => text === other[at] || different.push([text, other[at]]));
  if (different.length === 0) return true;
  failures++;
  if (failures < 25) {
    console.log(`${what}: ${different.length} differences`);
    for (const [a, b] of different.slice(0, 3)) console.log(`  whole  ${a}\n  joined ${b}`);
  }
  return false;
}

// What the state that cannot be looked at does: saved cursor, character sets, tabs, region, insertion, wrap.
const PROBE = "\x1b8A\x1b[5;5Hlqqk\t|\tx\x1b[1;1H\x1bM\x1b[32;1H\n\n" + "wrap".repeat(40) + "\x1b[3;3H\x1b[2L\x1b[?1049lend";

let joins = 0;
for (const job of jobs) {
  const data = read(job.data);
  let whole = open(job.cols, job.rows);
  let joined = null;
  let joinedAt = 0;
  let at = 0;
  for (const step of job.steps) {
    const piece = data.subarray(at, step.at);
    await write(whole, piece);
    if (joined) {
      await write(joined, piece);
      if (!compare(whole, joined, `${job.name}: joined at ${joinedAt}, after ${step.at}`)) joined = null;
    }
    at = step.at;
    if (step.size) {
      // Everybody is repainted after a resize.
      for (const terminal of [whole, joined].filter(Boolean)) {
        terminal.resize(...step.size);
        await write(terminal, read(step.snapshot));
      }
      continue;
    }
    const seen = joined;
    const fresh = open(whole.cols, whole.rows);
    await write(fresh, read(step.snapshot));
    joins++;
    const exact = compare(whole, fresh, `${job.name}: snapshot at ${at}`);
    if (seen && exact && step.again) {
      // A terminal that has shown something is repainted too.
      await write(seen, read(step.snapshot));
      compare(whole, seen, `${job.name}: snapshot at ${at} over what was seen since ${joinedAt}`);
    }
    joined = exact ? fresh : null;
    joinedAt = at;
  }
  await write(whole, data.subarray(at));
  if (joined) {
    await write(joined, data.subarray(at));
    compare(whole, joined, `${job.name}: joined at ${joinedAt}, at the end`);
    await write(whole, PROBE);
    await write(joined, PROBE);
    compare(whole, joined, `${job.name}: joined at ${joinedAt}, then probed`);
  }
}
console.log(`${jobs.length} streams, ${joins} joins, ${failures} failures`);
process.exit(failures === 0 ? 0 : 1);
