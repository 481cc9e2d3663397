import { check } from "./axe";
import { expect, live, test } from "./fixtures";
import { add } from "./queue";

test("labels are on cards, rows and in the form", async ({ floor }) => {
  const project = await floor.project("Plans");
  await add(floor, project, { description: "Draw the logo", labels: ["ui", "area/brand"] }, "Plain");
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/tasks`);
  await live(page);
  const card = page.locator("[data-task]", { hasText: "Draw the logo" }).first();
  await expect(card).toContainText("area/brand");
  await card.getByRole("link").click();
  const task = page.getByRole("complementary", { name: "Task" });
  await expect(task.locator("dl")).toContainText("area/brand");
  await task.getByRole("button", { name: "Edit", exact: true }).click();
  await expect(task.getByLabel("Labels")).toHaveValue("ui, area/brand");
  await task.getByLabel("Labels").fill("two words, ui, ui");
  await task.getByRole("button", { name: "Save" }).click();
  await expect(task.getByRole("alert")).toContainText("`ui` is given twice");
  await task.getByLabel("Labels").fill("ui, v1.2");
  await task.getByRole("button", { name: "Save" }).click();
  await expect(card).toContainText("v1.2");
  await expect(card).not.toContainText("area/brand");
  await check(page, "labels on the board and in the form");

  await page.goto(`/p/${project.id}/list`);
  await live(page);
  const row = page.getByRole("row", { name: "Draw the logo" });
  await expect(row).toContainText("v1.2");
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(row.getByRole("link")).toBeVisible();
  await check(page, "labels in the list on a phone");
});
