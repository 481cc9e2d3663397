import type { Activity, ActivityStatus, Project, Unread, User } from "../../protocol";
import type { Floor } from "../hub/floor";
import { group } from "../../lib/maps";
import { type Group, groupOf } from "./groups";

/** A project with its activities. */
export type Branch = {
  project: Project;
  open: Activity[];
  /** Without running sessions, but neither completed nor abandoned. */
  ended: Activity[];
  finished: Activity[];
  unread: Unread | null;
};

/** An owner with their projects. */
export type Owner = { id: string; name: string; mine: boolean; branches: Branch[] };

const ORDER: Record<ActivityStatus, number> = { blocked: 0, active: 1, completed: 2, abandoned: 3 };

/** Orders activities: blocked first, then by the latest change. */
export function byUrgency(a: Activity, b: Activity): number {
  return (
    ORDER[a.status] - ORDER[b.status] ||
    (a.updated_at < b.updated_at ? 1 : a.updated_at > b.updated_at ? -1 : 0)
  );
}

/** A person's current name, which may be newer than the stored one. */
export function nameOf(floor: Floor, person: { id: string; name: string }): string {
  return floor.users.get(person.id)?.name ?? person.name;
}

/** The projects by owner: own projects first, then by name. */
export function owners(floor: Floor): Owner[] {
  const inside = group(floor.activities.values(), (activity) => activity.project);
  const groups = group(floor.projects.values(), (project) => project.owner.id);
  const all = [...groups].map(([id, projects]): Owner => {
    const [first] = projects;
    const name = first ? nameOf(floor, first.owner) : id;
    return {
      id,
      name,
      mine: id === floor.me?.user?.id,
      branches: projects.map((one) => branch(floor, one, inside.get(one.id))),
    };
  });
  for (const owner of all) owner.branches.sort((a, b) => compare(a.project.name, b.project.name));
  return all.sort((a, b) => Number(b.mine) - Number(a.mine) || compare(a.name, b.name));
}

function branch(floor: Floor, project: Project, activities: Activity[] = []): Branch {
  const sorted = [...activities].sort(byUrgency);
  return {
    project,
    ...inGroups(floor, sorted),
    unread: floor.unread.get(project.id) ?? null,
  };
}

function inGroups(floor: Floor, activities: readonly Activity[]): Record<Group, Activity[]> {
  const groups: Record<Group, Activity[]> = { open: [], ended: [], finished: [] };
  for (const activity of activities) groups[groupOf(floor, activity)].push(activity);
  return groups;
}

/** Whether an activity is completed or abandoned. */
export function isFinished(activity: Activity): boolean {
  return activity.status === "completed" || activity.status === "abandoned";
}

/** The numbers of unread messages and of mentions. */
export function unreadTotal(floor: Floor): { count: number; mentions: number } {
  let count = 0;
  let mentions = 0;
  for (const unread of floor.unread.values()) {
    count += unread.count;
    mentions += unread.mentions;
  }
  return { count, mentions };
}

/** Other people who are viewing a project or activity. */
export function watchers(floor: Floor, project: string, activity?: string): User[] {
  const found: User[] = [];
  for (const entry of floor.presence.values()) {
    if (entry.user === floor.me?.user?.id) continue;
    const here = entry.places.some(
      (place) => place.project === project && (activity === undefined || place.activity === activity),
    );
    const user = floor.users.get(entry.user);
    if (here && user) found.push(user);
  }
  return found.sort((a, b) => compare(a.name, b.name));
}

function compare(a: string, b: string): number {
  return a.localeCompare(b, undefined, { sensitivity: "base", numeric: true });
}
