import { describe, expect, it } from "vitest";
import { MOST_FILTERS, parseFilters, withFilter, withoutFilter } from "./filters";

describe("saved filters", () => {
  const all = withFilter(withFilter([], "Mine", "?worker=w"), "Blocked UI", "?status=blocked&label=ui");

  it("are in order of their names, and one of the same name is replaced", () => {
    expect(all.map((one) => one.name)).toEqual(["Blocked UI", "Mine"]);
    expect(withFilter(all, " mine ", "?q=x")).toEqual([
      { name: "Blocked UI", search: "?status=blocked&label=ui" },
      { name: "mine", search: "?q=x" },
    ]);
    expect(withFilter(all, "  ", "?q=x")).toEqual(all);
    expect(withoutFilter(all, "MINE").map((one) => one.name)).toEqual(["Blocked UI"]);
    const many = Array.from({ length: 50 }, (_, at) => String(at)).reduce(
      (found, name) => withFilter(found, name, ""),
      all,
    );
    expect(many).toHaveLength(MOST_FILTERS);
  });

  it("are read from the storage, whatever is there", () => {
    expect(parseFilters(JSON.stringify(all))).toEqual(all);
    for (const text of [null, "", "{", "{}", '["x", null, 3, {"name": 1, "search": ""}, {"name": "a"}]'])
      expect(parseFilters(text), String(text)).toEqual([]);
  });
});
