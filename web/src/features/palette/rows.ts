import type { SearchHit, TerminalHit } from "../../protocol";
import { byKind, KINDS } from "../../state/shell/found";
import type { Command, ThingKind } from "./command";

/** A command, a thing that the hub found, or a line of a terminal; the first of its group has a heading. */
export type Row = {
  key: string;
  heading: string | null;
  command?: Command;
  hit?: SearchHit;
  line?: TerminalHit;
};

const HEADINGS: Record<ThingKind, string> = {
  ...KINDS,
  worker: "Workers",
  execution: "Executions",
  request: "Open requests",
};

/** Everything that was found, in groups: the group of the best match first, lines of terminals last. */
export function rowsOf(
  named: readonly Command[],
  hits: readonly SearchHit[],
  lines: readonly TerminalHit[],
): Row[] {
  const groups = new Map<string, Omit<Row, "heading">[]>();
  const add = (heading: string, row: Omit<Row, "heading">) => {
    const group = groups.get(heading);
    if (group) group.push(row);
    else groups.set(heading, [row]);
  };
  const known = new Set(named.map(({ id }) => id));
  for (const command of named)
    add(command.kind ? HEADINGS[command.kind] : "Pages and commands", { key: command.id, command });
  for (const hit of byKind(hits))
    if (!known.has(`go ${hit.id}`)) add(HEADINGS[hit.kind], { key: hit.id, hit });
  // Runners answer later than the hub: their lines come last, so that nothing moves.
  for (const [index, line] of lines.entries())
    add("In terminals", { key: `${line.session} ${line.at_ms} ${index}`, line });
  return [...groups].flatMap(([heading, group]) =>
    group.map((row, at) => ({ ...row, heading: at === 0 ? heading : null })),
  );
}
