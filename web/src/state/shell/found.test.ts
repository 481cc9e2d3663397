import { describe, expect, it } from "vitest";
import type { SearchHit, SearchKind, TerminalHit } from "../../protocol";
import { byKind, pathOfHit, pathOfLine } from "./found";
import { parseRoute } from "./route";

const hit = (kind: SearchKind, id: string): SearchHit => ({
  kind,
  id,
  project: "prj_1",
  project_name: "Parser",
  title: [],
  snippet: [],
  open: true,
  at: "2026-01-01T00:00:00Z",
});

describe("found things", () => {
  it("are grouped by kind, best kind first", () => {
    const hits = [hit("task", "a"), hit("message", "b"), hit("task", "c"), hit("project", "d")];
    expect(byKind(hits).map((one) => one.id)).toEqual(["a", "c", "b", "d"]);
  });

  it("open a recording where a line was on the screen", () => {
    const line: TerminalHit = {
      session: "ses_1",
      title: "make",
      project: "prj_1",
      project_name: "Parser",
      open: false,
      at_ms: 61_500,
      at: "2026-01-01T00:00:00Z",
      line: [],
    };
    expect(pathOfLine(line)).toBe("/s/ses_1/recording?t=61500");
  });

  it("have pages", () => {
    const route = (one: SearchHit) => {
      const [path = "", query = ""] = pathOfHit(one).split("?");
      return parseRoute(path, query && `?${query}`);
    };
    expect(route({ ...hit("message", "msg_1"), number: 7 })).toEqual({
      name: "project",
      project: "prj_1",
      message: 7,
    });
    expect(route(hit("task", "tsk_1"))).toEqual({ name: "task", task: "tsk_1" });
    expect(route(hit("recording", "ses_1"))).toEqual({ name: "recording", session: "ses_1", at: 0 });
    expect(route(hit("activity", "act_1"))).toEqual({
      name: "activity",
      project: "prj_1",
      activity: "act_1",
    });
  });
});
