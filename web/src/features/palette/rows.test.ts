import { expect, it } from "vitest";
import type { SearchHit } from "../../protocol";
import type { Command, ThingKind } from "./command";
import { rowsOf } from "./rows";

function command(id: string, kind?: ThingKind): Command {
  return {
    id: `go ${id}`,
    icon: "floor",
    title: id,
    detail: "",
    ...(kind && { kind }),
    run: () => undefined,
  };
}

function hit(id: string, kind: SearchHit["kind"]): SearchHit {
  return { id, kind } as SearchHit;
}

const shown = (named: Command[], hits: SearchHit[]) =>
  rowsOf(named, hits, []).map((row) => `${row.heading ?? "-"}: ${row.command?.title ?? row.hit?.id}`);

it("keeps things out of the pages and commands, and the best group first", () => {
  const named = [command("parser", "activity"), command("merge"), command("lexer", "activity")];
  expect(shown(named, [])).toEqual(["Activities: parser", "-: lexer", "Pages and commands: merge"]);
});

it("lists each thing once, under one heading for its kind", () => {
  const named = [command("merge"), command("ses_1", "session")];
  const hits = [hit("ses_1", "session"), hit("tsk_1", "task"), hit("ses_2", "session")];
  expect(shown(named, hits)).toEqual([
    "Pages and commands: merge",
    "Sessions: ses_1",
    "-: ses_2",
    "Tasks: tsk_1",
  ]);
});
