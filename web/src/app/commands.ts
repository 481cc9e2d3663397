import type { Command, ThingKind } from "../features/palette/command";
import { asProblem } from "../lib/failure";
import { canGovern, canWrite } from "../state/projects/access";
import { alerts } from "../state/shell/alerts.svelte";
import { taskLine } from "../state/tasks/board";
import { dialogs } from "../state/shell/dialogs.svelte";
import { navigation } from "../state/shell/navigation.svelte";
import { notices } from "../state/shell/notices.svelte";
import { preferences, type Theme } from "../state/shell/preferences.svelte";
import { projectOf, sessionOf } from "../state/shell/route";
import { hub } from "../state/hub/hub.svelte";
import { isOver, liveOf, sessionsOf } from "../state/execution/sessions";
import { tabs } from "../state/execution/tabs.svelte";
import { byUrgency, nameOf, owners } from "../state/projects/tree";
import { needed, pagesElsewhere, thingsHere, workHere } from "./work-commands";
import { myFreeze } from "../state/workers/workers";
import { squareIcon } from "../ui/icons";
import { STATUS_WORD, STATUSES, VISIBILITIES, VISIBILITY } from "../state/projects/words";

/** Every page and command that is available to this person here. */
export function commands(logOut: () => void): Command[] {
  return [
    ...here(),
    ...ofSession(),
    ...workHere(),
    ...needed(),
    ...pages(),
    ...verbs(logOut),
    ...things(),
    ...thingsHere(),
    ...pagesElsewhere(),
  ];
}

function here(): Command[] {
  const { floor } = hub;
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
          hub.call({ verb: "activity.update", activity: activity.id, input: { status } }),
          `${activity.name}: status set to ${status}`,
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
  found.push(
    go("project terminals", "terminal", "Project terminals", project.name, `/p/${project.id}/terminals`),
  );
  found.push(
    go("project recordings", "film", "Project recordings", project.name, `/p/${project.id}/recordings`),
  );
  if (canGovern(floor.me, project)) {
    for (const visibility of VISIBILITIES.filter((one) => one !== project.visibility)) {
      const run = () =>
        attempt(
          hub.call({ verb: "project.update", project: project.id, input: { visibility } }),
          `${project.name}: visibility set to ${visibility}`,
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
    go("project audit", "audit", "Project audit trail", project.name, `/audit?project=${project.id}`),
  );
  found.push({ id: "copy link", icon: "link", title: "Copy link to this page", detail: "", run: copy });
  return found;
}

function ofSession(): Command[] {
  const { floor } = hub;
  const found: Command[] = [];
  const shown = floor.sessions.get(sessionOf(navigation.route) ?? "");
  if (shown) {
    const { id, title } = shown;
    const mine = shown.owner.id === floor.me?.user?.id;
    if (!isOver(shown) && mine) {
      const stop = () =>
        attempt(
          hub.call({ verb: "session.stop", session: id, input: { force: false } }),
          `Stopping ${title}`,
        );
      found.push({ id: "stop", icon: "stop", title: "Stop this session", detail: title, run: stop });
    }
    if (isOver(shown) && mine && shown.resumable) {
      const resume = () =>
        attempt(
          hub
            .call({ verb: "session.resume", session: id })
            .then((next) => navigation.go({ name: "session", session: next.id })),
          `Resumed ${title}`,
        );
      found.push({
        id: "resume",
        icon: "sync",
        title: "Resume this session",
        detail: title,
        run: resume,
      });
    }
    if (mine)
      found.push({
        id: "hand off",
        icon: "send",
        title: "Hand off to a fresh session",
        detail: "Ctrl+H",
        run: () => dialogs.show({ kind: "handoff", session: id }),
      });
    found.push(go("recording", "film", "Play the recording", title, `/s/${id}/recording`));
    found.push(
      go("its activity", "active", "Show the activity", title, `/p/${shown.project}/a/${shown.activity}`),
    );
    const add = (icon: Command["icon"], words: string, keys: string, run: () => void) =>
      found.push({ id: `terminal ${words}`, icon, title: words, detail: keys, run });
    add("diff", "Toggle the diff", "Ctrl+Shift+D", () => (tabs.diff = !tabs.diff));
    add("grid", "Toggle one terminal or a grid", "Ctrl+Shift+G", () => (tabs.grid = !tabs.grid));
    add(
      "reader",
      "Screen reader mode for terminals",
      tabs.reader ? "on" : "off",
      () => (tabs.reader = !tabs.reader),
    );
    add("plus", "Increase terminal font size", "", () => (tabs.fontSize += 1));
    add("blocked", "Decrease terminal font size", "", () => (tabs.fontSize -= 1));
  }
  return found;
}

/** Projects, activities and sessions; open ones first. */
function things(): Command[] {
  const { floor } = hub;
  const found: Command[] = [];
  for (const owner of owners(floor)) {
    for (const { project } of owner.branches) {
      const whose = owner.mine ? "Your project" : `${owner.name}’s project`;
      found.push(go(project.id, "chat", project.name, whose, `/p/${project.id}`, "project"));
    }
  }
  for (const activity of [...floor.activities.values()].sort(byUrgency)) {
    const where = floor.projects.get(activity.project)?.name ?? "";
    const detail = `Activity · ${where} · ${nameOf(floor, activity.owner)}`;
    const path = `/p/${activity.project}/a/${activity.id}`;
    found.push(go(activity.id, activity.status, activity.name, detail, path, "activity"));
  }
  for (const one of sessionsOf(floor, {}).slice(0, 200)) {
    const live = liveOf(floor, one);
    const detail = `Session · ${live.word} · ${one.agent}`;
    const icon = squareIcon(live.tone);
    found.push(go(one.id, icon, one.title || one.agent, detail, `/s/${one.id}`, "session"));
  }
  return found;
}

function pages(): Command[] {
  const { floor } = hub;
  const found: Command[] = [];
  found.push(go("home", "floor", "Overview", "Page", "/"));
  if (!floor.me?.user) return found;
  found.push(go("needs", "waiting", "Needs you", "Page", "/needs"));
  found.push(go("terminals", "terminal", "Terminals", "Page", "/terminals"));
  found.push(go("recordings", "film", "Recordings", "Page", "/recordings"));
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
  if (hub.floor.me?.user) {
    add("spark", "Start an agent", "shopfloor session spawn", startAgent);
    add(
      "bell",
      alerts.on ? "Turn off notifications" : "Turn on notifications",
      "",
      () => void alerts.set(!alerts.on),
    );
    add("stop", "Stop everything", "shopfloor stop-everything", () =>
      dialogs.show({ kind: "freeze", project: null }),
    );
    if (myFreeze(hub.floor))
      add("snow", "Thaw", "shopfloor thaw", () =>
        attempt(hub.call({ verb: "floor.thaw", input: {} }), "Thawed"),
      );
    add("plus", "New project", "shopfloor project create", () => dialogs.show({ kind: "create-project" }));
    add("spark", "Show the first steps", "", showSteps);
    add("people", "Invite a person", "shopfloor invite create", () => dialogs.show({ kind: "invite" }));
    add("key", "Create a token", "shopfloor token create", () => navigation.go("/settings"));
  }
  for (const theme of ["system", "light", "dark"] as Theme[]) {
    if (theme !== preferences.theme) add("eye", `Theme: ${theme}`, "", () => (preferences.theme = theme));
  }
  add("floor", "Toggle the floor", "[", () => (preferences.floorOpen = !preferences.floorOpen));
  add("inspector", "Toggle details", "]", () => (preferences.inspectorOpen = !preferences.inspectorOpen));
  add("sync", "Reconnect now", "", () => hub.nudge());
  add("search", "Keyboard shortcuts", "?", () => dialogs.show({ kind: "shortcuts" }));
  add("close", "Log out", "", logOut);
  return found;
}

/** Brings the first steps back: those of the project on screen, otherwise the form that starts the first agent. */
export function showSteps(): void {
  const project = projectOf(navigation.route);
  preferences.chooseSteps(project ?? "home", "shown");
  navigation.go(project ? { name: "project", project } : { name: "home" });
}

/** Runs a command whose result is not visible on screen, and shows a notice. */
export function attempt(work: Promise<unknown>, done: string): void {
  work.then(
    () => notices.tell(done),
    (thrown: unknown) => notices.tell(asProblem(thrown).detail, true),
  );
}

/** A page, or a thing with its kind, as a command. */
export function go(
  id: string,
  icon: Command["icon"],
  title: string,
  detail: string,
  path: string,
  kind?: ThingKind,
): Command {
  return { id: `go ${id}`, icon, title, detail, ...(kind && { kind }), run: () => navigation.go(path) };
}

/** Focuses the message input. */
export function focusComposer(): void {
  document.querySelector<HTMLElement>("[data-composer]")?.focus();
}

/** Opens the editor in the inspector. */
export function editText(): void {
  preferences.inspectorOpen = true;
  requestAnimationFrame(() => document.querySelector<HTMLElement>("[data-edit]")?.click());
}

/** The project of the current page. */
export function projectHere(): string | null {
  const { floor } = hub;
  const { route } = navigation;
  const task = route.name === "task" ? taskLine(floor, route.task) : undefined;
  const asked =
    route.name === "escalation"
      ? floor.escalations.get(route.escalation)
      : route.name === "approval"
        ? floor.approvals.get(route.approval)
        : undefined;
  return (
    projectOf(route) ??
    floor.sessions.get(sessionOf(route) ?? "")?.project ??
    task?.project ??
    asked?.project ??
    null
  );
}

/** Opens the form that adds tasks to this project. */
export function addTasks(): void {
  const project = hub.floor.projects.get(projectHere() ?? "");
  if (project && canWrite(hub.floor.me, project)) dialogs.show({ kind: "add-tasks", project: project.id });
}

/** Opens the form that starts an agent in this project or activity. */
export function startAgent(): void {
  const { floor } = hub;
  const { route } = navigation;
  if (!floor.me?.user) return;
  const agent = floor.sessions.get(sessionOf(route) ?? "");
  const activity = route.name === "activity" ? route.activity : (agent?.activity ?? null);
  const project = projectOf(route) ?? agent?.project ?? null;
  dialogs.show({ kind: "spawn", project, activity });
}
