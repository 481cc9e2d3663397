import { readFileSync } from "node:fs";
import { expect, live, test } from "./fixtures";
import { projectWithCode, run, screen, session } from "./work";

test("a recording can be played, searched and kept", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const script = "for i in 1 2 3 4 5 6 7 8; do echo recorded line $i; sleep 0.3; done";
  const { id } = await run(floor, project, ["sh", "-c", script]);
  await expect.poll(async () => (await session(floor, id)).state.status, { timeout: 20_000 }).toBe("exited");

  const page = await floor.owner();
  await page.goto(`/s/${id}`);
  await expect(screen(page)).toContainText("recorded line 8");
  await page.getByRole("link", { name: "Play recording" }).click();
  await expect(page).toHaveURL(`/s/${id}/recording`);
  await expect(screen(page)).toContainText("recorded line 1");
  await expect(screen(page)).not.toContainText("recorded line 2");
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await expect(screen(page)).toContainText("recorded line 2");
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByLabel("Speed").selectOption("5");

  await page.getByLabel("Search the recording").fill("line 6");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  const pane = page.getByRole("complementary", { name: "Markers and search" });
  expect(await pane.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
  await page
    .getByRole("button", { name: /recorded line 6/ })
    .first()
    .click();
  await expect(page).toHaveURL(/recording\?t=\d+/);
  await expect(screen(page)).toContainText("recorded line 6");

  await page.reload();
  await live(page);
  await expect(screen(page)).toContainText("recorded line 6");
  await page.getByRole("button", { name: "Keep" }).click();
  await expect(page.getByRole("button", { name: "Kept" })).toBeVisible();

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download", exact: true }).click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/\.cast$/);
  const lines = readFileSync(await file.path(), "utf8")
    .trimEnd()
    .split("\n");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ version: 3 });
  const output = lines.slice(1).map((line) => JSON.parse(line) as [number, string, string]);
  expect(output.map(([, , data]) => data).join("")).toContain("recorded line 8");

  await page.goto("/recordings");
  await expect(page.getByRole("button", { name: "Kept" })).toBeVisible();
  await page
    .getByRole("main")
    .getByRole("link", { name: /for i in/ })
    .click();
  await expect(page).toHaveURL(`/s/${id}/recording`);
});

test("a recording has the access rights of its terminal", async ({ floor }) => {
  const project = await projectWithCode(floor, "Shop", false);
  const { id } = await run(floor, project, ["sh", "-c", "echo mine"]);
  const bo = await floor.guest("Bo");
  await bo.goto(`/s/${id}/recording`);
  await expect(bo.getByRole("heading", { name: "Not found" })).toBeVisible();
  await bo.goto("/recordings");
  await expect(bo.getByText("No recordings yet")).toBeVisible();
});

test("recordings are a table, and a list on a phone", async ({ floor }) => {
  const project = await projectWithCode(floor);
  for (const script of [
    "echo short",
    "echo much longer; echo than the other; echo whatever the page's width",
  ]) {
    const { id } = await run(floor, project, ["sh", "-c", script]);
    await expect
      .poll(async () => (await session(floor, id)).state.status, { timeout: 20_000 })
      .toBe("exited");
  }
  const page = await floor.owner();
  await page.goto("/recordings");
  const rows = page.getByRole("table", { name: "Recordings" }).locator("tbody tr");
  await expect(rows).toHaveCount(2);
  const edges = (row: number) =>
    rows
      .nth(row)
      .locator("th, td")
      .evaluateAll((cells) => cells.map((cell) => Math.round(cell.getBoundingClientRect().left)));
  expect(await edges(0)).toEqual(await edges(1));

  await page.setViewportSize({ width: 390, height: 760 });
  expect(await edges(0)).toEqual(await edges(1));
  for (const row of [0, 1]) {
    const title = await rows.nth(row).getByRole("link").locator("span").boundingBox();
    expect(title?.width).toBeGreaterThan(60);
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});
