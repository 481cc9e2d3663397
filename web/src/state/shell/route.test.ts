import { describe, expect, it } from "vitest";
import { ALL_TASKS, parseRoute, pathOf, type Route } from "./route";

describe("routes", () => {
  const routes: Route[] = [
    { name: "home" },
    { name: "project", project: "prj_1" },
    { name: "activity", project: "prj_1", activity: "act_1" },
    { name: "project-settings", project: "prj_1" },
    { name: "people" },
    { name: "approval", approval: "apr_1" },
    { name: "runners" },
    { name: "settings" },
    { name: "audit", project: null },
    { name: "audit", project: "prj_1" },
    {
      name: "list",
      project: "prj_1",
      task: null,
      query: {
        text: "fix it",
        worker: "wkr_1",
        activity: "act_1",
        status: "running",
        label: "area/web & more",
        need: "gpu",
        sort: "-priority",
      },
    },
    { name: "tasks", project: "prj_1", task: "tsk_1", query: { ...ALL_TASKS, status: "open" } },
  ];

  it.each(routes)("survive their URL: $name", (route) => {
    const [path = "", search] = pathOf(route).split("?");
    expect(parseRoute(path, search)).toEqual(route);
  });

  it("ignore a status that does not exist", () => {
    expect(parseRoute("/p/a/tasks", "?status=sleeping")).toMatchObject({ query: ALL_TASKS });
  });

  it("are lost for unknown paths", () => {
    for (const path of ["/x", "/p/a/b", "/p/a/a/b/c", "/people/1"])
      expect(parseRoute(path)).toEqual({ name: "lost" });
  });
});
