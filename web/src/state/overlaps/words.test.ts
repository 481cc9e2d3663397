import { describe, expect, it } from "vitest";
import { clock } from "../../lib/time";
import { EMPTY } from "../hub/floor";
import { change, changeAll } from "../hub/things";
import { overlap, reservation } from "../testing/samples";
import { comparable, declaredOf, patternsIn, reservedBy, wordOf } from "./words";
import { overlapsOf } from "./overlaps";

const until = "2026-11-15T14:30:00.000Z";

describe("declared files", () => {
  it("appear with a reservation and disappear with its end", () => {
    const made = change(EMPTY, { kind: "reservation", reservation: reservation("r") });
    expect(reservedBy(made.reservations, "a").map((one) => one.id)).toEqual(["r"]);
    expect(reservedBy(made.reservations, "b")).toEqual([]);
    const ended = change(made, { kind: "reservation", reservation: reservation("r", { ended_at: until }) });
    expect(ended.reservations.size).toBe(0);
    const synced = changeAll(EMPTY, [{ kind: "reservation", reservation: reservation("r") }]);
    expect(synced.reservations.size).toBe(1);
    expect(change(synced, { kind: "project_gone", project: "p" }).reservations.size).toBe(0);
  });

  it("are told from both sides", () => {
    const plain = overlap("o");
    const one = { ...plain.one, workspace: null, reservation: "r", until };
    const known = new Map([["o", overlap("o", { kind: "declared", one })]]);
    const told = (activity: string) => overlapsOf(known, activity).map(declaredOf);
    expect(told("b")).toEqual([`Reserved by a until ${clock(Date.parse(until))}`]);
    expect(told("a")).toEqual([`b changes files that are reserved here until ${clock(Date.parse(until))}`]);
    expect(overlapsOf(known, "a").map(comparable)).toEqual([null]);
    const task = new Map([
      ["o", overlap("o", { kind: "declared", one: { ...plain.one, workspace: null, task: "t" } })],
    ]);
    expect(overlapsOf(task, "b").map(declaredOf)).toEqual(["A running task of a names the same files"]);
    expect([...overlapsOf(known, "a"), ...overlapsOf(task, "b")].map(wordOf)).toEqual([
      "Reserved",
      "Planned",
    ]);
    const work = overlapsOf(new Map([["o", plain]]), "a");
    expect(work.map(declaredOf)).toEqual([null]);
    expect(work.map(comparable)).toEqual([{ mine: "wa", theirs: "wb" }]);
  });

  it("are not what meets the base branch", () => {
    const base = overlap("o", { kind: "base", other: null, base: "main" });
    const met = overlapsOf(new Map([["o", base]]), "a");
    expect(met.map((one) => [wordOf(one), declaredOf(one), comparable(one)])).toEqual([
      ["Conflicts with its base", null, null],
    ]);
  });

  it("are read one pattern on each line", () => {
    expect(patternsIn(" src/** \n\ndocs\n")).toEqual(["src/**", "docs"]);
  });
});
