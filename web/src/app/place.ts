import type { Place } from "../protocol";
import type { Floor } from "../state/floor";
import type { Route } from "../state/route";
import { unreadTotal } from "../state/tree";

/** What to tell others that this page shows. */
export function placeOf(route: Route): Place | null {
  if (route.name === "project") return { project: route.project, activity: null };
  if (route.name === "activity") return { project: route.project, activity: route.activity };
  return null;
}

/** The tab's title: who is called, where one is. */
export function titleFor(floor: Floor, route: Route): string {
  const { count, mentions } = unreadTotal(floor);
  const mark = mentions > 0 ? `(@${mentions}) ` : count > 0 ? `(${count}) ` : "";
  return `${mark}${nameOfPlace(floor, route)}`;
}

function nameOfPlace(floor: Floor, route: Route): string {
  const project = "project" in route && route.project ? floor.projects.get(route.project) : undefined;
  const activity = route.name === "activity" ? floor.activities.get(route.activity) : undefined;
  if (activity) return `${activity.name} · Shopfloor`;
  if (project) return `${project.name} · Shopfloor`;
  return "Shopfloor";
}
