import type { Floor } from "../../state/hub/floor";
import { valuesOf } from "../../lib/layered";
import { unfinished } from "../../state/chat/mentions";
import { byUrgency } from "../../state/projects/tree";

/** A suggestion of the completion. */
export type Choice = { id: string; label: string; detail?: string; insert: string };

const MOST = 8;

/** Suggestions for an unfinished `@name` or `#reference` before the caret, and its start. */
export function choicesAt(
  floor: Floor,
  project: string,
  text: string,
  caret: number,
): { start: number; choices: Choice[] } | null {
  const open = unfinished(text, caret);
  if (!open) return null;
  const query = open.query.toLowerCase();
  const choices =
    open.sign === "@"
      ? people(floor, query)
      : [...activities(floor, project, query), ...tasks(floor, project, query)].slice(0, MOST);
  return choices.length > 0 ? { start: open.start, choices } : null;
}

function people(floor: Floor, query: string): Choice[] {
  return [...floor.users.values()]
    .filter(
      (user) =>
        !user.disabled && user.name.toLowerCase().includes(query) && user.name.toLowerCase() !== query,
    )
    .sort(
      (a, b) =>
        Number(b.name.toLowerCase().startsWith(query)) - Number(a.name.toLowerCase().startsWith(query)),
    )
    .slice(0, MOST)
    .map((user) => ({
      id: user.id,
      label: user.name,
      insert: `@${user.name} `,
      ...(floor.presence.has(user.id) ? { detail: "online" } : {}),
    }));
}

// Only loaded tasks.
function tasks(floor: Floor, project: string, query: string): Choice[] {
  const board = floor.boards.get(project);
  if (!board || query.length === 0) return [];
  const found: Choice[] = [];
  for (const task of valuesOf(board.tasks)) {
    const named = task.short.toLowerCase().startsWith(query);
    if (!named && !task.title.toLowerCase().includes(query)) continue;
    const label = `${task.short} ${task.title}`;
    found.push({ id: task.id, label, detail: `task, ${task.status}`, insert: `#${task.short} ` });
    if (found.length === MOST) break;
  }
  return found;
}

function activities(floor: Floor, project: string, query: string): Choice[] {
  return [...floor.activities.values()]
    .filter((activity) => activity.project === project && activity.name.toLowerCase().includes(query))
    .sort(byUrgency)
    .slice(0, MOST)
    .map((activity) => ({
      id: activity.id,
      label: activity.name,
      detail: activity.status,
      insert: `#${activity.id} `,
    }));
}
