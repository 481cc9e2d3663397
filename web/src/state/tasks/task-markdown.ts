import type { Criterion, TaskAdd } from "../../protocol";
import { argvOf } from "../execution/agents";
import { FIELDS, type Field, slipOf } from "./task-fields";

/** The tasks of a Markdown checklist; the same rules as `shopfloor task add --file plan.md`. */
export type List = { tasks: TaskAdd[]; skipped: number; errors: { line: number; message: string }[] };

type Item = {
  indent: number;
  line: number;
  done: boolean;
  title: string;
  details: string[];
  fields: { field: Field; value: string; line: number }[];
  /** Errors of lines that look like unknown fields. */
  slips: List["errors"];
  /** The indentation of its first line, where its fields are. */
  depth: number | null;
  parts: Item[];
};

/** Parses `- [ ]` items, the text indented below them, fields such as `- files: …`, and nested items, which are dependencies. */
export function readList(text: string): List {
  const items = itemsOf(text.replace(/^\uFEFF/u, "").split(/\r?\n/u));
  for (const outer of items.filter((item) => !item.done))
    for (const part of outer.parts.filter((item) => !item.done)) {
      let name = part.fields.find((one) => one.field === "id")?.value;
      if (name === undefined)
        part.fields.push({ field: "id", value: (name = `line-${part.line}`), line: part.line });
      outer.fields.push({ field: "deps", value: name, line: part.line });
    }
  const list: List = { tasks: [], skipped: items.filter((item) => item.done).length, errors: [] };
  const over = new Set(
    items
      .filter((item) => item.done)
      .flatMap((item) => item.fields.filter((one) => one.field === "id").map((one) => one.value)),
  );
  for (const item of items.filter((one) => !one.done)) list.tasks.push(taskOf(item, over, list.errors));
  return list;
}

function itemsOf(lines: readonly string[]): Item[] {
  const items: Item[] = [];
  let open: Item[] = [];
  // The indentation of the field that deeper lines belong to.
  let deep: number | null = null;
  let fence: string | null = null;
  lines.forEach((raw, index) => {
    const line = raw.trimEnd();
    const { indent, text } = indentation(line);
    const inner = open.at(-1);
    if (fence !== null) {
      if (text.startsWith(fence)) fence = null;
      return void inner?.details.push(line);
    }
    if (text === "") return void inner?.details.push("");
    const box = checkbox(text);
    if (box) {
      deep = null;
      open = open.filter((item) => item.indent < indent);
      const item: Item = { ...box, indent, line: index + 1, details: [], slips: [], depth: null, parts: [] };
      open.at(-1)?.parts.push(item);
      items.push(item);
      open.push(item);
      return;
    }
    open = open.filter((item) => item.indent < indent);
    const item = open.at(-1);
    if (!item) return void (fence = fenceOf(text));
    if (deep !== null && indent > deep) return more(item, text, index + 1);
    deep = null;
    item.depth ??= indent;
    const field = fieldOf(text);
    if (field) {
      deep = indent;
      item.fields.push({ ...field, line: index + 1 });
    } else {
      const message = slipOf(text, bullet(text), indent <= item.depth);
      if (message) item.slips.push({ line: index + 1, message });
      fence = fenceOf(text);
      item.details.push(line);
    }
  });
  return items;
}

// A line below a field: another value, or a continuation of the last one.
function more(item: Item, text: string, line: number): void {
  const last = item.fields.at(-1);
  if (!last) return;
  const value = bullet(text);
  if (value !== null && last.field !== "context") {
    if (last.value === "") item.fields.pop();
    item.fields.push({ field: last.field, value, line });
  } else last.value += (last.value === "" ? "" : last.field === "context" ? "\n" : " ") + text;
}

function taskOf(item: Item, over: ReadonlySet<string>, errors: List["errors"]): TaskAdd {
  const task: TaskAdd = { description: descriptionOf(item) };
  if (item.title === "") errors.push({ line: item.line, message: "The item has no title after “[ ]”." });
  errors.push(...item.slips);
  const add = (name: "files" | "deps" | "needs", value: string) => {
    const words = value
      .split(",")
      .map(plain)
      .filter((word) => word && !(name === "deps" && over.has(word)));
    if (words.length > 0) task[name] = [...(task[name] ?? []), ...words];
  };
  for (const { field, value: raw, line } of item.fields) {
    const value = raw.trim();
    if (field === "files" || field === "deps" || field === "needs") add(field, value);
    else if (field === "context") task.context = task.context ? `${task.context}\n${value}` : value;
    else if (field === "id" && task.id !== undefined)
      errors.push({ line, message: "The task has a name already." });
    else if (field === "id") task.id = plain(value);
    else if (field === "priority" && /^[0-9]$/u.test(value)) task.priority = Number(value);
    else if (field === "priority")
      errors.push({ line, message: `The priority is “${value}”; write a number from 0 to 9.` });
    else {
      const criterion = criterionOf(value);
      if (typeof criterion === "string") errors.push({ line, message: criterion });
      else task.acceptance = [...(task.acceptance ?? []), criterion];
    }
  }
  return task;
}

function descriptionOf({ title, details }: Item): string {
  const depths = details.filter((line) => line.trim()).map((line) => indentation(line).indent);
  const depth = depths.length > 0 ? Math.min(...depths) : 0;
  const body = details
    .map((line) => {
      const { indent, text } = indentation(line);
      return text === "" ? "" : " ".repeat(Math.max(0, indent - depth)) + text;
    })
    .join("\n")
    .replace(/^\n+|\n+$/gu, "");
  return body ? `${title}\n\n${body}` : title;
}

/** A criterion from one line, or an error message. */
export function criterionOf(line: string): Criterion | string {
  const text = line.trim();
  if (text.startsWith("{")) {
    try {
      return JSON.parse(text) as Criterion;
    } catch {
      return `This is no criterion: ${text.slice(0, 60)}`;
    }
  }
  const colon = text.indexOf(":");
  const kind = (colon < 0 ? text : text.slice(0, colon)).trimEnd();
  const rest =
    colon < 0
      ? ""
      : text
          .slice(colon + 1)
          .trim()
          .replace(/^`(.*)`$/u, "$1");
  const word = kind.toLowerCase().replaceAll("-", "_");
  const needs = (what: string) => `“${word}:” needs ${what} after it.`;
  if (text === "") return "It is empty.";
  if (word === "committed" && rest === "") return { kind: "committed" };
  if (word === "no_conflict_with_base" && rest === "") return { kind: "no_conflict_with_base" };
  if (word === "file_exists") return rest ? { kind: word, path: rest } : needs("a path");
  if (word === "only_touches") return rest ? { kind: word, globs: argvOf(rest) } : needs("a pattern");
  if (word === "command" && colon >= 0) return rest ? { kind: word, argv: argvOf(rest) } : needs("a program");
  if (word === "text" && colon >= 0) return rest ? { kind: word, text: rest } : needs("words");
  if (word === "file_matches") return rest ? fileMatches(argvOf(rest)) : needs("a path");
  return { kind: "text", text };
}

function fileMatches([path = "", ...rules]: readonly string[]): Criterion | string {
  const found: Criterion & { kind: "file_matches" } = { kind: "file_matches", path };
  for (const rule of rules) {
    const at = rule.indexOf("=");
    const [name, value] = [rule.slice(0, at), rule.slice(at + 1)];
    if (name === "regex" || name === "not_regex") found[name] = value;
    else if (name === "min_words" && /^\d+$/u.test(value)) found.min_words = Number(value);
    else if (name === "parses" && /^(json|jsonl|toml|yaml|csv|xml|text)$/u.test(value))
      found.parses = value as NonNullable<typeof found.parses>;
    else return `“${rule}” is not one of: regex=…, not_regex=…, min_words=N, parses=FORMAT. Quote values with spaces: regex="def mul".`;
  }
  return found;
}

function indentation(line: string): { indent: number; text: string } {
  const text = line.replace(/^[ \t]+/u, "");
  let indent = 0;
  for (const letter of line.slice(0, line.length - text.length))
    indent = letter === "\t" ? (Math.floor(indent / 4) + 1) * 4 : indent + 1;
  return { indent, text };
}

function bullet(text: string): string | null {
  const rest = /^(?:[-*+]|\d+[.)])(.*)$/su.exec(text)?.[1];
  if (rest === undefined) return null;
  return rest === "" || /^[ \t]/u.test(rest) ? rest.trimStart() : null;
}

function checkbox(text: string): Pick<Item, "done" | "title" | "fields"> | null {
  const box = /^\[([ xX]?)\](?:[ \t]+(.*))?$/su.exec(bullet(text) ?? "");
  if (!box) return null;
  const whole = (box[2] ?? "").trim();
  const named = /^(.*)\{#([^}]*\S[^}]*)\}$/su.exec(whole);
  return {
    done: /x/iu.test(box[1] ?? ""),
    title: named ? (named[1] ?? "").trimEnd() : whole,
    fields: named ? [{ field: "id", value: (named[2] ?? "").trim(), line: 0 }] : [],
  };
}

function fieldOf(text: string): { field: Field; value: string } | null {
  const line = bullet(text) ?? text;
  const colon = line.indexOf(":");
  if (colon < 0) return null;
  const name = line
    .slice(0, colon)
    .trim()
    .replace(/^\*+|\*+$/gu, "")
    .toLowerCase();
  const value = line
    .slice(colon + 1)
    .replace(/^\*+/u, "")
    .trim();
  return name in FIELDS ? { field: FIELDS[name as keyof typeof FIELDS], value } : null;
}

function fenceOf(text: string): string | null {
  return ["```", "~~~"].find((fence) => text.startsWith(fence)) ?? null;
}

function plain(word: string): string {
  return word
    .trim()
    .replace(/^`+|`+$/gu, "")
    .trim();
}
