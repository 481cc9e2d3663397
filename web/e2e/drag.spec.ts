import { expect, test } from "./fixtures";
import { add, column, detail, has, report, take } from "./queue";
import type { Locator, Page } from "@playwright/test";

const card = (page: Page, name: string) => page.getByRole("link", { name: new RegExp(`^${name}`) });
const order = (page: Page, name: string) => column(page, name).locator(".title").allTextContents();

/** Drags a card to a place without dropping it. */
async function drag(page: Page, from: Locator, to: Locator, at: "top" | "middle" | "bottom" = "middle") {
  await from.hover();
  const start = await from.boundingBox();
  const end = await to.boundingBox();
  if (!start || !end) throw new Error("not visible");
  const y = { top: 4, middle: end.height / 2, bottom: end.height - 4 }[at];
  await page.mouse.down();
  await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2 + 12, { steps: 3 });
  await expect(page.locator(".dragged", { has: from })).toBeVisible();
  await page.mouse.move(end.x + end.width / 2, end.y + y, { steps: 5 });
  // The first move onto an element only enters it.
  await page.mouse.move(end.x + end.width / 2, end.y + y + 1);
}

test("a card is dragged to another place in the queue", async ({ floor }) => {
  const project = await floor.project("Plans");
  const made = await add(floor, project, "One", "Two", "Three");
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/tasks`);
  await has(page, "Ready", "One", "Two", "Three");

  await drag(page, card(page, "Three"), card(page, "One"), "top");
  await expect(column(page, "Ready").getByRole("heading")).toContainText("Priority 6");
  await page.mouse.up();
  await expect.poll(() => order(page, "Ready")).toEqual(["Three", "One", "Two"]);
  expect((await detail(floor, made[2]?.id ?? "")).task.priority).toBe(6);
  await expect(page).toHaveURL(`/p/${project.id}/tasks`);

  await drag(page, card(page, "Three"), card(page, "Two"), "bottom");
  await page.mouse.up();
  await expect.poll(() => order(page, "Ready")).toEqual(["One", "Two", "Three"]);
  expect((await detail(floor, made[2]?.id ?? "")).task.priority).toBe(5);
});

test("a card is dragged to a column that can take it", async ({ floor }) => {
  const project = await floor.project("Plans");
  const made = await add(floor, project, "One", "Two", "Three");
  await report(floor, await take(floor, project, "outside", made[2]?.id), "done");
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/tasks`);
  await has(page, "Ready", "One", "Two");
  await has(page, "Done", "Three");
  const over = column(page, "Failed or cancelled");

  await test.step("the others refuse it", async () => {
    await drag(page, card(page, "One"), column(page, "Done"));
    await expect(column(page, "Done")).toHaveClass(/refuses/);
    await expect(column(page, "In progress")).toHaveClass(/refuses/);
    await expect(over).toHaveClass(/takes/);
    await page.mouse.up();
    await expect(over).not.toHaveClass(/takes/);
    await has(page, "Ready", "One", "Two");
    await has(page, "Done", "Three");
  });

  await test.step("ready to cancelled asks, and back retries", async () => {
    await drag(page, card(page, "One"), over);
    await page.mouse.up();
    await page.getByRole("dialog").getByRole("button", { name: "Not now" }).click();
    await has(page, "Ready", "One", "Two");
    await drag(page, card(page, "One"), over);
    await page.mouse.up();
    await expect(page.getByRole("dialog", { name: /^Cancel .*\?$/ })).toBeVisible();
    await page.keyboard.press("Enter");
    await has(page, "Failed or cancelled", "One");
    await has(page, "Ready", "Two");
    await drag(page, card(page, "One"), column(page, "Ready"));
    await page.mouse.up();
    await has(page, "Ready", "One", "Two");
    await has(page, "Failed or cancelled");
  });

  await test.step("done to ready asks for words", async () => {
    await drag(page, card(page, "Three"), column(page, "Ready"));
    await page.mouse.up();
    const dialog = page.getByRole("dialog", { name: /^Ask for more/ });
    await expect(dialog.getByRole("button", { name: "Reopen" })).toBeDisabled();
    await dialog.getByLabel("What to do now").fill("now also the index");
    await dialog.getByRole("button", { name: "Reopen" }).click();
    await has(page, "Ready", "One", "Two", "Three");
    expect((await detail(floor, made[2]?.id ?? "")).task.context).toContain("now also the index");
  });

  await test.step("a selected card takes the others along", async () => {
    await card(page, "One").hover();
    await page.getByRole("checkbox", { name: /: One$/ }).check();
    await page.getByRole("checkbox", { name: /: Two$/ }).check();
    await drag(page, card(page, "Two"), over);
    await page.mouse.up();
    await page.getByRole("button", { name: "Cancel 2 tasks" }).click();
    await has(page, "Failed or cancelled", "One", "Two");
  });
});
