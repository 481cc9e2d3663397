import type { TaskAdd } from "../../protocol";
import { readList } from "./task-markdown";

/** The result of parsing pasted text: tasks, and errors with line numbers. */
export type Read = {
  format: "markdown" | "json" | "jsonl";
  tasks: TaskAdd[];
  /** Number of items that are already done. */
  skipped: number;
  errors: { line: number; message: string }[];
};

/** Parses tasks from JSON, JSON Lines or a Markdown checklist. */
export function readTasks(text: string): Read {
  const start = text.trimStart()[0];
  if (start !== "{" && start !== "[") return markdown(text);
  const lines = text.split("\n").filter((line) => line.trim());
  return start === "{" && lines.length > 1 && lines.every((line) => line.trim().startsWith("{"))
    ? jsonLines(text)
    : json(text);
}

function json(text: string): Read {
  const read: Read = { format: "json", tasks: [], skipped: 0, errors: [] };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    read.errors.push({ line: lineOf(text, String(thrown)), message: `Invalid JSON: ${reasonOf(thrown)}` });
    return read;
  }
  const inside = isRecord(value) && Array.isArray(value.tasks) ? value.tasks : value;
  const all: unknown[] = Array.isArray(inside) ? inside : [inside];
  for (const [index, one] of all.entries())
    take(read, one, 1, all.length > 1 ? `Task ${index + 1}` : "The task");
  return read;
}

function jsonLines(text: string): Read {
  const read: Read = { format: "jsonl", tasks: [], skipped: 0, errors: [] };
  for (const [index, line] of text.split("\n").entries()) {
    if (!line.trim()) continue;
    try {
      take(read, JSON.parse(line), index + 1, "The task");
    } catch (thrown) {
      read.errors.push({ line: index + 1, message: `Invalid JSON: ${reasonOf(thrown)}` });
    }
  }
  return read;
}

function take(read: Read, value: unknown, line: number, name: string): void {
  if (!isRecord(value)) read.errors.push({ line, message: `${name} is not an object.` });
  else if (typeof value.description !== "string" || !value.description.trim())
    read.errors.push({ line, message: `${name} has no "description".` });
  else read.tasks.push(value as TaskAdd);
}

function markdown(text: string): Read {
  const { tasks, skipped, errors } = readList(text);
  if (tasks.length === 0 && skipped === 0 && text.trim())
    errors.push({ line: 1, message: "No tasks found. Write lines like “- [ ] Fix the parser”, or JSON." });
  return { format: "markdown", tasks, skipped, errors };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function lineOf(text: string, reason: string): number {
  const at = /position (\d+)/u.exec(reason)?.[1];
  return at ? text.slice(0, Number(at)).split("\n").length : 1;
}
