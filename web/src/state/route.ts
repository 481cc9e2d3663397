/** A place in the page, as its address names it. */
export type Route =
  | { name: "home" }
  | { name: "project"; project: string }
  | { name: "activity"; project: string; activity: string }
  | { name: "project-settings"; project: string }
  | { name: "people" }
  | { name: "runners" }
  | { name: "audit"; project: string | null }
  | { name: "settings" }
  | { name: "login" }
  | { name: "join" }
  | { name: "observe" }
  | { name: "lost" };

const PLAIN = ["people", "runners", "settings", "login", "join", "observe"] as const;

/** The place that an address names. */
export function parseRoute(pathname: string, search = ""): Route {
  const parts = pathname.split("/").filter(Boolean);
  const [first, second, third, fourth] = parts;
  if (!first) return { name: "home" };
  if (first === "p" && second) {
    if (parts.length === 2) return { name: "project", project: second };
    if (third === "settings" && parts.length === 3) return { name: "project-settings", project: second };
    if (third === "a" && fourth && parts.length === 4)
      return { name: "activity", project: second, activity: fourth };
    return { name: "lost" };
  }
  if (parts.length > 1) return { name: "lost" };
  if (first === "audit") return { name: "audit", project: new URLSearchParams(search).get("project") };
  const plain = PLAIN.find((name) => name === first);
  return plain ? { name: plain } : { name: "lost" };
}

/** The address of a place. */
export function pathOf(route: Route): string {
  switch (route.name) {
    case "home":
    case "lost":
      return "/";
    case "project":
      return `/p/${route.project}`;
    case "activity":
      return `/p/${route.project}/a/${route.activity}`;
    case "project-settings":
      return `/p/${route.project}/settings`;
    case "audit":
      return route.project ? `/audit?project=${route.project}` : "/audit";
    default:
      return `/${route.name}`;
  }
}

/** The project that a place is in. */
export function projectOf(route: Route): string | null {
  return "project" in route && route.name !== "audit" ? route.project : null;
}
