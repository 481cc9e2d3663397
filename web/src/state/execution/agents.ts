import type { FoundAgent, Runner } from "../../protocol";
import type { Floor } from "../hub/floor";

/** An agent as this person can start it, or could after installing it. */
export type AgentChoice = FoundAgent & {
  /** The connected runners that have it. */
  runners: readonly Runner[];
};

/** What every runner can run. */
const EVERYWHERE: FoundAgent[] = [
  { name: "shell", label: "Shell", version: "", install: null, headless: false },
  { name: "command", label: "Command", version: "", install: null, headless: false },
];

/** This person's runners: the connected first. */
export function myRunners(floor: Floor): Runner[] {
  const me = floor.me?.user?.id;
  return [...floor.runners.values()]
    .filter((runner) => runner.owner.id === me)
    .sort((a, b) => Number(b.connected) - Number(a.connected) || a.name.localeCompare(b.name));
}

/**
 * The connected runners of others who work on an activity: a session there is theirs, and they are asked first. The hub
 * decides; the page only spares a refusal.
 */
export function hostsOf(floor: Floor, activity: string): Runner[] {
  const me = floor.me?.user?.id;
  const known = floor.activities.get(activity);
  const project = known && floor.projects.get(known.project);
  if (!me || !known || !project) return [];
  const writes = (person: string) => project.owner.id === person || project.visibility === "read-write";
  const works = new Set([known.owner.id]);
  for (const one of floor.workspaces.values())
    if (one.activity === activity && one.status !== "cleaned") works.add(one.owner.id);
  return [...floor.runners.values()]
    .filter(({ connected, owner: { id } }) => connected && id !== me && works.has(id) && writes(id))
    .sort((a, b) => a.owner.name.localeCompare(b.owner.name) || a.name.localeCompare(b.name));
}

/** What the workspaces of a runner take on its disk, as far as they may be seen; null: nothing is known. */
export function diskOf(floor: Floor, runner: string): number | null {
  const known = [...floor.workspaces.values()].filter(
    (one) => one.runner === runner && one.status !== "cleaned" && one.disk_bytes !== null,
  );
  return known.length === 0 ? null : known.reduce((sum, one) => sum + (one.disk_bytes ?? 0), 0);
}

/** The agents of these runners, by default this person's: those that can start now first, coding agents before plain programs. */
export function agentChoices(floor: Floor, runners: readonly Runner[] = myRunners(floor)): AgentChoice[] {
  const connected = runners.filter((runner) => runner.connected);
  const found = new Map<string, AgentChoice>();
  for (const runner of connected) {
    for (const agent of [...(runner.about?.agents ?? []), ...EVERYWHERE]) {
      const known = found.get(agent.name);
      const runners = known?.runners ?? [];
      const here = agent.version !== null || isPlain(agent.name);
      found.set(agent.name, {
        ...(known && known.version !== null ? known : agent),
        runners: here && !runners.includes(runner) ? [...runners, runner] : runners,
      });
    }
  }
  const rank = (one: AgentChoice) => (one.runners.length === 0 ? 2 : isPlain(one.name) ? 1 : 0);
  return [...found.values()].sort((a, b) => rank(a) - rank(b));
}

/** Whether what an agent uses becomes money nowhere: no budget stops it. What a runner does not say is taken for granted. */
export function tellsNoCost(choice: AgentChoice): boolean {
  if (isPlain(choice.name)) return false;
  const modes = choice.modes ?? [];
  return modes.length > 0 && modes.every((mode) => mode.costs === false);
}

/** How this person gets a runner: whoever owns the hub may have it beside the hub, everybody else connects a machine. */
export function runnerAdvice(floor: Floor, origin: string): { text: string; commands: string[] } {
  const own = "Agents run on your own machine, with your own credentials.";
  const connect = `shopfloor runner --hub ${origin} --token T --name N`;
  if (floor.me?.user?.hub_owner)
    return {
      text: `${own} The first command starts the hub with a runner beside it; the second connects any other machine, with a token from the Runners page.`,
      commands: ["shopfloor up", connect],
    };
  return {
    text: `${own} Register it on the Runners page, then start its runner there with the token that you get.`,
    commands: [connect],
  };
}

/** Whether an agent is only a program: it takes a command line, not a prompt. */
export function isPlain(agent: string): boolean {
  return agent === "shell" || agent === "command";
}

/** A command line as the program and its arguments; quotes and backslashes as in a shell, and nothing else of one. */
export function argvOf(line: string): string[] {
  const found: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let at = 0; at < line.length; at++) {
    const letter = line[at] ?? "";
    if (letter === "\\" && quote !== "'" && at + 1 < line.length) word = (word ?? "") + line[++at];
    else if (quote) {
      if (letter === quote) quote = null;
      else word = (word ?? "") + letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      word ??= "";
    } else if (/\s/u.test(letter)) {
      if (word !== null) found.push(word);
      word = null;
    } else word = (word ?? "") + letter;
  }
  if (word !== null) found.push(word);
  return found;
}

/** A program and its arguments as one line that [`argvOf`] takes apart again. */
export function lineOf(argv: readonly string[]): string {
  const quoted = (word: string) =>
    /^[\p{L}\p{N}_./:=@%+,*?[\]{}-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
  return argv.map(quoted).join(" ");
}

/** A project's name from where its code is. */
export function nameFromLocation(location: string): string {
  const last =
    location
      .trim()
      .replace(/[/\\]+$/u, "")
      .split(/[/\\:]/u)
      .at(-1) ?? "";
  return last.replace(/\.git$/u, "") || "My project";
}
