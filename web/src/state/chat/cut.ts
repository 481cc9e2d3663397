import { taskByShort, taskLine } from "../tasks/board";
import type { Floor } from "../hub/floor";
import { pieces } from "./mentions";
import { pathOf } from "../shell/route";

/** A rendered part of a text. */
export type KnownPart =
  | { kind: "text"; text: string }
  | { kind: "chip"; text: string; strong: boolean; title?: string }
  | { kind: "link"; text: string; href: string; title?: string };

/** Creates a function that renders mentions as chips and visible references as links. */
export function cutter(floor: Floor): (text: string) => KnownPart[] {
  const names = [...floor.users.values()].map((user) => user.name);
  const me = floor.me?.user?.name.toLowerCase();
  return (text) =>
    pieces(text, names).map((piece): KnownPart => {
      if (piece.kind === "text") return piece;
      if (piece.kind === "mention") {
        return { kind: "chip", text: `@${piece.name}`, strong: piece.name.toLowerCase() === me };
      }
      return reference(floor, piece.id);
    });
}

function reference(floor: Floor, id: string): KnownPart {
  const activity = floor.activities.get(id);
  if (activity) {
    const href = pathOf({ name: "activity", project: activity.project, activity: id });
    return { kind: "link", text: `#${activity.name}`, href, title: `${activity.name} (${activity.status})` };
  }
  const project = floor.projects.get(id);
  if (project)
    return { kind: "link", text: `#${project.name}`, href: pathOf({ name: "project", project: id }) };
  if (id.includes("-")) return byName(floor, id);
  if (id.startsWith("tsk_")) {
    const task = taskLine(floor, id);
    const href = pathOf({ name: "task", task: id });
    return task
      ? { kind: "link", text: `#${task.short} ${task.title}`, href, title: `${task.title} (${task.status})` }
      : { kind: "link", text: `#${id.slice(0, 12)}…`, href, title: `Task ${id}` };
  }
  const session = floor.sessions.get(id);
  if (session)
    return { kind: "link", text: `#${session.title}`, href: pathOf({ name: "session", session: id }) };
  return {
    kind: "chip",
    text: `#${id.slice(0, 12)}…`,
    strong: false,
    title: `${id}: not found, or no access`,
  };
}

// Names that are no project's key, such as `UTF-8`, stay text.
function byName(floor: Floor, short: string): KnownPart {
  const key = short.slice(0, short.lastIndexOf("-"));
  const known = [...floor.projects.values()].some((project) => project.key === key);
  if (!known) return { kind: "text", text: `#${short}` };
  const task = taskByShort(floor, short);
  const href = pathOf({ name: "task", task: task?.id ?? short });
  return task
    ? { kind: "link", text: `#${short}`, href, title: `${task.title} (${task.status})` }
    : { kind: "link", text: `#${short}`, href, title: `Task ${short}` };
}
