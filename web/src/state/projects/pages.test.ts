import { expect, it } from "vitest";
import { findName } from "../../lib/search";
import { parseRoute } from "../shell/route";
import { pageLines, PROJECT_PAGES } from "./pages";

const lines = pageLines({ id: "prj_1" });

it.each(PROJECT_PAGES.map(({ name, word }) => [name, word]))(
  "the palette finds the page %s",
  (name, word) => {
    const [first] = findName(lines, word.toLowerCase(), ({ title }) => title, 1);
    expect(first?.id).toBe(`${name} of prj_1`);
  },
);

it("each page has a route that marks its tab", () => {
  for (const [at, line] of lines.entries())
    expect(PROJECT_PAGES[at]?.routes, line.path).toContain(parseRoute(line.path).name);
});
