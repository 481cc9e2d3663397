import type { Command } from "../features/palette/command";
import { asProblem } from "../link/failure";
import { canGovern, canWrite } from "../state/access";
import { dialogs } from "../state/dialogs.svelte";
import { navigation } from "../state/navigation.svelte";
import { notices } from "../state/notices.svelte";
import { preferences, type Theme } from "../state/preferences.svelte";
import { projectOf } from "../state/route";
import { session } from "../state/session.svelte";
import { byUrgency, nameOf, owners } from "../state/tree";
import { STATUS_WORD, STATUSES, VISIBILITIES, VISIBILITY } from "../state/words";

/** Every place and verb that this person has here and now. */
export function commands(logOut: () => void): Command[] {
  return [...here(), ...places(), ...verbs(logOut)];
}

function here(): Command[] {
  const { floor } = session;
  const { route } = navigation;
  const project = floor.projects.get(projectOf(route) ?? "");
  if (!project) return [];
  const found: Command[] = [];
  const activity = route.name === "activity" ? floor.activities.get(route.activity) : undefined;
  const writes = canWrite(floor.me, project);
  if (activity && writes) {
    for (const status of STATUSES.filter((one) => one !== activity.status)) {
      const run = () =>
        attempt(
          session.call({ verb: "activity.update", activity: activity.id, input: { status } }),
          `${activity.name} is ${status}`,
        );
      found.push({
        id: `status ${status}`,
        icon: status,
        title: `Set status: ${STATUS_WORD[status]}`,
        detail: activity.name,
        run,
      });
    }
  }
  if (writes) {
    const run = () => dialogs.show({ kind: "create-activity", project: project.id });
    found.push({ id: "new activity", icon: "plus", title: "New activity", detail: project.name, run });
    found.push({
      id: "edit",
      icon: "pencil",
      title: "Edit text",
      detail: (activity ?? project).name,
      run: editText,
    });
    found.push({
      id: "write",
      icon: "chat",
      title: "Write a message",
      detail: project.name,
      run: focusComposer,
    });
  }
  if (canGovern(floor.me, project)) {
    for (const visibility of VISIBILITIES.filter((one) => one !== project.visibility)) {
      const run = () =>
        attempt(
          session.call({ verb: "project.update", project: project.id, input: { visibility } }),
          `${project.name} is ${visibility}`,
        );
      const { word, icon } = VISIBILITY[visibility];
      found.push({
        id: `visibility ${visibility}`,
        icon,
        title: `Set visibility: ${word}`,
        detail: project.name,
        run,
      });
    }
  }
  const copy = () => attempt(navigator.clipboard.writeText(location.href), "Link copied");
  found.push(go("project settings", "gear", "Project settings", project.name, `/p/${project.id}/settings`));
  found.push(
    go("project audit", "audit", "Audit trail of this project", project.name, `/audit?project=${project.id}`),
  );
  found.push({ id: "copy link", icon: "link", title: "Copy link to this place", detail: "", run: copy });
  return found;
}

function places(): Command[] {
  const { floor } = session;
  const found: Command[] = [];
  for (const owner of owners(floor)) {
    for (const { project } of owner.branches) {
      found.push(
        go(
          project.id,
          "chat",
          project.name,
          owner.mine ? "Your project" : `Project of ${owner.name}`,
          `/p/${project.id}`,
        ),
      );
    }
  }
  for (const activity of [...floor.activities.values()].sort(byUrgency)) {
    const detail = `${floor.projects.get(activity.project)?.name ?? ""} · ${nameOf(floor, activity.owner)}`;
    found.push(
      go(activity.id, activity.status, activity.name, detail, `/p/${activity.project}/a/${activity.id}`),
    );
  }
  found.push(go("home", "floor", "Now on the floor", "Page", "/"));
  if (!floor.me?.user) return found;
  found.push(go("people", "people", "People", "Page", "/people"));
  found.push(go("runners", "runner", "Runners", "Page", "/runners"));
  found.push(go("audit", "audit", "Audit trail", "Page", "/audit"));
  found.push(go("settings", "gear", "Settings: tokens, invitations, logins", "Page", "/settings"));
  return found;
}

function verbs(logOut: () => void): Command[] {
  const found: Command[] = [];
  const add = (icon: Command["icon"], title: string, detail: string, run: () => void) =>
    found.push({ id: `verb ${title}`, icon, title, detail, run });
  if (session.floor.me?.user) {
    add("plus", "New project", "shopfloor project create", () => dialogs.show({ kind: "create-project" }));
    add("people", "Invite somebody", "shopfloor invite create", () => dialogs.show({ kind: "invite" }));
    add("key", "Create a token", "shopfloor token create", () => navigation.go("/settings"));
  }
  for (const theme of ["system", "light", "dark"] as Theme[]) {
    if (theme !== preferences.theme) add("eye", `Theme: ${theme}`, "", () => (preferences.theme = theme));
  }
  add("floor", "Show or hide the floor", "[", () => (preferences.floorOpen = !preferences.floorOpen));
  add(
    "inspector",
    "Show or hide details",
    "]",
    () => (preferences.inspectorOpen = !preferences.inspectorOpen),
  );
  add("sync", "Reconnect now", "", () => session.nudge());
  add("search", "List shortcuts", "?", () => dialogs.show({ kind: "shortcuts" }));
  add("close", "Log out", "", logOut);
  return found;
}

// Runs where nothing on screen shows what came of it.
function attempt(work: Promise<unknown>, done: string): void {
  work.then(
    () => notices.tell(done),
    (thrown: unknown) => notices.tell(asProblem(thrown).detail, true),
  );
}

function go(id: string, icon: Command["icon"], title: string, detail: string, path: string): Command {
  return { id: `go ${id}`, icon, title, detail, run: () => navigation.go(path) };
}

/** Puts the caret into the composer. */
export function focusComposer(): void {
  document.querySelector<HTMLElement>("[data-composer]")?.focus();
}

/** Starts to edit the text in the inspector. */
export function editText(): void {
  preferences.inspectorOpen = true;
  requestAnimationFrame(() => document.querySelector<HTMLElement>("[data-edit]")?.click());
}
