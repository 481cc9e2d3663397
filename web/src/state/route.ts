/** A place in the page, as its address names it. */
export type Route =
  | { name: "home" }
  | { name: "project"; project: string }
  | { name: "activity"; project: string; activity: string }
  | { name: "project-settings"; project: string }
  | { name: "terminals"; project: string | null }
  | { name: "session"; session: string }
  | { name: "recordings"; project: string | null }
  | { name: "recording"; session: string; at: number }
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
    if (third === "terminals" && parts.length === 3) return { name: "terminals", project: second };
    if (third === "recordings" && parts.length === 3) return { name: "recordings", project: second };
    if (third === "a" && fourth && parts.length === 4)
      return { name: "activity", project: second, activity: fourth };
    return { name: "lost" };
  }
  if (first === "s" && second) {
    if (parts.length === 2) return { name: "session", session: second };
    if (third === "recording" && parts.length === 3)
      return { name: "recording", session: second, at: moment(new URLSearchParams(search).get("t")) };
    return { name: "lost" };
  }
  if (parts.length > 1) return { name: "lost" };
  if (first === "audit") return { name: "audit", project: new URLSearchParams(search).get("project") };
  if (first === "terminals" || first === "recordings") return { name: first, project: null };
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
    case "terminals":
    case "recordings":
      return route.project ? `/p/${route.project}/${route.name}` : `/${route.name}`;
    case "session":
      return `/s/${route.session}`;
    case "recording":
      return `/s/${route.session}/recording${route.at > 0 ? `?t=${route.at}` : ""}`;
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

/** The session that a place is about. */
export function sessionOf(route: Route): string | null {
  return route.name === "session" || route.name === "recording" ? route.session : null;
}

function moment(text: string | null): number {
  const value = Number(text ?? 0);
  return Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}
