import { check } from "./axe";
import { expect, live, test } from "./fixtures";
import { add, has, take } from "./queue";

test("the list sorts by its columns, follows the filter, and walks by keys", async ({ floor }) => {
  const project = await floor.project("Plans");
  await add(
    floor,
    project,
    { description: "Alpha", priority: 2 },
    { description: "Beta", priority: 8 },
    ...Array.from({ length: 60 }, (_, at) => `More ${at + 1}`),
  );
  await take(floor, project, "outside");
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/tasks`);
  await page.getByRole("navigation", { name: "Pages of Plans" }).getByRole("link", { name: "List" }).click();
  await live(page);
  const table = page.getByRole("table", { name: "Tasks" });
  await expect(table).toHaveAttribute("aria-rowcount", "63");
  const row = (at: number) => table.locator(`[role=row][aria-rowindex="${at + 2}"]`);
  // The most urgent first: Beta was taken.
  await expect(row(0)).toContainText("Beta");
  await expect(row(0)).toContainText("Assigned");

  await table.getByRole("button", { name: "Task" }).click();
  await expect(page).toHaveURL(/sort=task/);
  await expect(table.getByRole("columnheader", { name: "Task" })).toHaveAttribute("aria-sort", "ascending");
  await expect(row(0)).toContainText("Alpha");
  await table.getByRole("button", { name: "Priority" }).click();
  await expect(row(0)).toContainText("Beta");
  await table.getByRole("button", { name: "Priority" }).click();
  await expect(row(0)).toContainText("Alpha");

  await row(0).getByRole("link").focus();
  await page.keyboard.press("End");
  await expect(row(61).getByRole("link")).toBeFocused();
  await page.keyboard.press("k");
  await expect(row(60).getByRole("link")).toBeFocused();
  await page.keyboard.press("Home");
  await expect(row(0).getByRole("link")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("complementary", { name: "Task" })).toContainText("Alpha");
  await expect(page).toHaveURL(/\/list\/tsk_.*sort=priority/);

  await page.getByLabel("Search tasks").fill("alpha");
  await expect(table).toHaveAttribute("aria-rowcount", "2");
  await expect(page.getByRole("status").filter({ hasText: "1 task" })).toBeVisible();
});

test("tasks are filtered by status, label and ability, and a person's filters have names", async ({
  floor,
}) => {
  const project = await floor.project("Plans");
  await add(
    floor,
    project,
    { description: "Taken", priority: 9, labels: ["ui"], needs: [] },
    { description: "Draw it", labels: ["ui", "urgent"] },
    { description: "Train it", labels: ["urgent"], needs: ["gpu"] },
    "Plain",
  );
  await take(floor, project, "outside");
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/list`);
  await live(page);
  const table = page.getByRole("table", { name: "Tasks" });
  const filter = page.getByRole("search", { name: "Filter tasks" });
  const titles = () => table.locator("[role=row] a").allTextContents();
  const shows = (...wanted: RegExp[]) =>
    expect(async () => {
      const found = await titles();
      expect(found).toHaveLength(wanted.length);
      for (const title of wanted) expect(found.some((one) => title.test(one))).toBe(true);
    }).toPass();
  await shows(/Taken/, /Draw it/, /Train it/, /Plain/);

  await filter.getByLabel("Label").selectOption("urgent");
  await shows(/Draw it/, /Train it/);
  await filter.getByLabel("Required ability").selectOption("gpu");
  await shows(/Train it/);
  await filter.getByLabel("Required ability").selectOption("");
  await expect(page).toHaveURL(/label=urgent/);

  await filter.getByRole("button", { name: "Save filter" }).click();
  await filter.getByLabel("Name of the filter").fill("Urgent work");
  await page.keyboard.press("Enter");
  await expect(filter.getByLabel("Saved filters")).toHaveValue("Urgent work");
  await expect(page.getByText("in this browser")).toBeVisible();
  await filter.getByRole("button", { name: "Clear the filter" }).click();
  await filter.getByLabel("Status").selectOption("assigned");
  await shows(/Taken/);
  await filter.getByLabel("Status").selectOption("open");
  await shows(/Taken/, /Draw it/, /Train it/, /Plain/);
  await check(page, "the filters of a list");

  await test.step("they stay, on the board, too, and belong to one person and project", async () => {
    await page.goto(`/p/${project.id}/tasks`);
    await filter.getByLabel("Saved filters").selectOption("Urgent work");
    await has(page, "Ready", "Draw it", "Train it");
    await has(page, "In progress");
    const other = await floor.project("Others");
    await add(floor, other, "Elsewhere");
    await page.goto(`/p/${other.id}/tasks`);
    await has(page, "Ready", "Elsewhere");
    await expect(filter.getByLabel("Saved filters")).toHaveCount(0);
  });

  await page.goto(`/p/${project.id}/tasks?label=urgent`);
  await filter.getByRole("button", { name: "Delete the filter “Urgent work”" }).click();
  await expect(filter.getByLabel("Saved filters")).toHaveCount(0);
});
