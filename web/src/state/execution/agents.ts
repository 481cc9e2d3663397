import type { FoundAgent, Runner } from "../../protocol";
import type { Floor } from "../hub/floor";

/** An agent that this person can start or install. */
export type AgentChoice = FoundAgent & {
  /** The connected runners that have it. */
  runners: readonly Runner[];
};

/** The programs that every runner can run. */
const EVERYWHERE: FoundAgent[] = [
  { name: "shell", label: "Shell", version: "", install: null, headless: false },
  { name: "command", label: "Command", version: "", install: null, headless: false },
];

/** This person's runners, those online first. */
export function myRunners(floor: Floor): Runner[] {
  const me = floor.me?.user?.id;
  return [...floor.runners.values()]
    .filter((runner) => runner.owner.id === me)
    .sort((a, b) => Number(b.connected) - Number(a.connected) || a.name.localeCompare(b.name));
}

/**
 * Other people's online runners for an activity. A session there belongs to the runner's owner, who must allow it. The
 * hub enforces this; the page only hides what it would reject.
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

/** The disk usage of a runner's visible workspaces; null when unknown. */
export function diskOf(floor: Floor, runner: string): number | null {
  const known = [...floor.workspaces.values()].filter(
    (one) => one.runner === runner && one.status !== "cleaned" && one.disk_bytes !== null,
  );
  return known.length === 0 ? null : known.reduce((sum, one) => sum + (one.disk_bytes ?? 0), 0);
}

/** The agents on the runners: available ones first, coding agents before plain programs. */
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

/** Whether an agent never reports cost, so that budgets have no effect. Unknown agents count as reporting. */
export function tellsNoCost(choice: AgentChoice): boolean {
  if (isPlain(choice.name)) return false;
  const modes = choice.modes ?? [];
  return modes.length > 0 && modes.every((mode) => mode.costs === false);
}

/** Whether agents of this name report no cost here; commands and shells never do. */
export function reportsNoCost(floor: Floor, name: string): boolean {
  if (isPlain(name)) return true;
  const known = agentChoices(floor).find((one) => one.name === name);
  return known !== undefined && tellsNoCost(known);
}

/** How this person gets a runner: next to the hub for its owner, on another machine for everyone else. */
export function runnerAdvice(floor: Floor, origin: string): { text: string; commands: string[] } {
  const own = "Agents run on your machine, with your credentials.";
  const connect = `shopfloor runner --hub ${origin} --token-file FILE --name N`;
  if (floor.me?.user?.hub_owner)
    return {
      text: `${own} The first command starts the hub together with a runner. The second connects another machine, with a token from the Runners page.`,
      commands: ["shopfloor up", connect],
    };
  return {
    text: `${own} Register a runner on the Runners page, then start it on your machine with the token.`,
    commands: [connect],
  };
}

/** Whether an agent is a plain program, which takes a command line instead of a prompt. */
export function isPlain(agent: string): boolean {
  return agent === "shell" || agent === "command";
}

/** A command line in words: `bare` says which ones had no quotes, `open` whether a quote is not closed. */
export type ReadLine = { argv: string[]; bare: boolean[]; open: boolean };

/** Reads a command line with the quotes and backslashes of a shell, but no other shell syntax. */
export function readLine(line: string): ReadLine {
  const [argv, bare]: [string[], boolean[]] = [[], []];
  let word: string | null = null;
  let plain = true;
  let quote: string | null = null;
  const end = () => {
    if (word === null) return;
    argv.push(word);
    bare.push(plain);
    [word, plain] = [null, true];
  };
  for (let at = 0; at < line.length; at++) {
    const letter = line[at] ?? "";
    const next = line[at + 1];
    // In double quotes, only these letters are escaped; in single quotes, none.
    const escapes = quote === null ? next !== undefined : quote === '"' && next && '$`"\\'.includes(next);
    if (letter === "\\" && escapes) {
      word = (word ?? "") + next;
      plain = false;
      at++;
    } else if (quote) {
      if (letter === quote) quote = null;
      else word = (word ?? "") + letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      word ??= "";
      plain = false;
    } else if (/\s/u.test(letter)) end();
    else word = (word ?? "") + letter;
  }
  end();
  return { argv, bare, open: quote !== null };
}

/** Splits a command line into program and arguments. */
export function argvOf(line: string): string[] {
  return readLine(line).argv;
}

/** Joins program and arguments into a line for [`argvOf`]. */
export function lineOf(argv: readonly string[]): string {
  const quoted = (word: string) =>
    /^[\p{L}\p{N}_./:=@%+,*?[\]{}-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
  return argv.map(quoted).join(" ");
}

/** A project name from a repository URL or path. */
export function nameFromLocation(location: string): string {
  const last =
    location
      .trim()
      .replace(/[/\\]+$/u, "")
      .split(/[/\\:]/u)
      .at(-1) ?? "";
  return last.replace(/\.git$/u, "") || "My project";
}
