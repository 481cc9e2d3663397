import { check } from "./axe";
import { expect, test } from "./fixtures";
import { add, column, detail, has, report, take } from "./queue";
import type { Page } from "@playwright/test";

const bar = (page: Page) => page.getByRole("region", { name: "Selected tasks" });
const card = (page: Page, name: string) => page.getByRole("link", { name: new RegExp(`^${name}`) });
const box = (page: Page, name: string) => page.getByRole("checkbox", { name: new RegExp(`: ${name}$`) });
const order = (page: Page, name: string) => column(page, name).locator(".title").allTextContents();

test("several tasks are selected, cancelled and retried", async ({ floor }) => {
  const project = await floor.project("Plans");
  const made = await add(floor, project, "One", "Two", "Three", "Four", "Five");
  await report(floor, await take(floor, project, "outside", made[4]?.id), "done");
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/tasks`);
  await has(page, "Ready", "One", "Two", "Three", "Four");
  await has(page, "Done", "Five");

  await test.step("a checkbox starts the selection, Shift+click extends it", async () => {
    await card(page, "One").hover();
    await box(page, "One").check();
    await expect(bar(page)).toContainText("1 selected");
    await card(page, "Three").click({ modifiers: ["Shift"] });
    await expect(bar(page)).toContainText("3 selected");
    await expect(page.locator("[data-selection]")).toContainText("3 selected");
    await expect(box(page, "Two")).toBeChecked();
    await expect(page).toHaveURL(`/p/${project.id}/tasks`);
    await box(page, "Two").click({ modifiers: ["Shift"] });
    await expect(box(page, "Two")).toBeChecked();
    await box(page, "Two").uncheck();
    await box(page, "Five").check();
    await expect(bar(page)).toContainText("3 selected");
    await check(page, "a selection");
  });

  await test.step("only what can be cancelled is cancelled, after a question", async () => {
    await expect(bar(page).getByRole("button", { name: "Retry" })).toBeDisabled();
    await bar(page).getByRole("button", { name: "Cancel 2…" }).click();
    const dialog = page.getByRole("dialog", { name: "Cancel 2 tasks?" });
    await expect(dialog).toContainText("One");
    await check(page, "the question");
    await dialog.getByLabel("Reason (optional)").fill("not now");
    await page.keyboard.press("Enter");
    await has(page, "Failed or cancelled", "One", "Three");
    await has(page, "Ready", "Two", "Four");
    await expect(page.getByText("Cancelled 2 tasks")).toBeVisible();
    await expect(bar(page)).toContainText("1 selected");
    expect((await detail(floor, made[0]?.id ?? "")).task.reason).toContain("not now");
  });

  await test.step("Escape clears the selection; cancelled tasks are retried", async () => {
    await page.keyboard.press("Escape");
    await expect(bar(page)).toHaveCount(0);
    await box(page, "One").check();
    await box(page, "Three").check();
    await bar(page).getByRole("button", { name: "Retry" }).click();
    await has(page, "Ready", "One", "Two", "Three", "Four");
    await expect(bar(page)).toHaveCount(0);
  });

  await test.step("a failure is named and stays selected", async () => {
    await box(page, "One").check();
    await box(page, "Two").check();
    await bar(page).getByRole("button", { name: "Cancel…" }).click();
    const dialog = page.getByRole("dialog", { name: "Cancel 2 tasks?" });
    await report(floor, await take(floor, project, "outside", made[0]?.id), "done");
    await has(page, "Done", "One", "Five");
    await dialog.getByRole("button", { name: "Cancel 2 tasks" }).click();
    await has(page, "Failed or cancelled", "Two");
    await expect(bar(page).getByRole("alert")).toContainText(
      new RegExp(`1 task did not change:\\s*${made[0]?.short}: .*is done: it cannot be cancelled`),
    );
    await expect(bar(page)).toContainText("1 selected");
    await bar(page).getByRole("button", { name: "Clear the selection" }).click();
    await expect(bar(page)).toHaveCount(0);
  });
});

test("a person who may only read cannot select", async ({ floor }) => {
  const project = await floor.project("Plans", "read-only");
  await add(floor, project, "One");
  const guest = await floor.guest("Bo");
  await guest.goto(`/p/${project.id}/tasks`);
  await has(guest, "Ready", "One");
  await card(guest, "One").focus();
  await guest.keyboard.press("x");
  await expect(guest.getByRole("checkbox")).toHaveCount(0);
  await expect(bar(guest)).toHaveCount(0);
});

test("keys select tasks and change their priority", async ({ floor }) => {
  const project = await floor.project("Plans");
  const made = await add(floor, project, "One", "Two", "Three");
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/tasks`);
  await has(page, "Ready", "One", "Two", "Three");

  await test.step("x selects, Shift and an arrow extend", async () => {
    await page.locator("main").focus();
    await page.keyboard.press("j");
    await expect(card(page, "One")).toBeFocused();
    await page.keyboard.press("x");
    await page.keyboard.press("Shift+ArrowDown");
    await expect(bar(page)).toContainText("2 selected");
    await page.keyboard.press("j");
    await expect(card(page, "Three")).toBeFocused();
    await page.keyboard.press("Escape");
    await expect(bar(page)).toHaveCount(0);
  });

  await test.step("+ and - change the priority, and the focus stays on the card", async () => {
    await page.keyboard.press("+");
    await page.keyboard.press("+");
    await expect(page.locator("[data-selection]")).toContainText("priority 7");
    await expect.poll(() => order(page, "Ready")).toEqual(["Three", "One", "Two"]);
    await expect(card(page, "Three")).toBeFocused();
    await page.keyboard.press("-");
    await expect.poll(async () => (await detail(floor, made[2]?.id ?? "")).task.priority).toBe(6);
    await expect(page.getByRole("dialog")).toHaveCount(0);
  });

  await test.step("a priority for all selected", async () => {
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await bar(page).getByRole("button", { name: "Priority…" }).click();
    const dialog = page.getByRole("dialog", { name: "Priority of 2 tasks" });
    await dialog.getByLabel("Priority").selectOption("8");
    await dialog.getByRole("button", { name: "Set priority" }).click();
    await expect.poll(() => order(page, "Ready")).toEqual(["One", "Two", "Three"]);
    await expect(bar(page)).toContainText("2 selected");
  });

  await test.step("Enter opens the task, ? lists the keys", async () => {
    await page.keyboard.press("Escape");
    await card(page, "Two").focus();
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(`/p/${project.id}/tasks/${made[1]?.id}`);
    await page.keyboard.press("?");
    await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toContainText(
      "raise or lower its priority",
    );
  });
});

test("a phone selects with its checkboxes", async ({ floor }) => {
  const project = await floor.project("Plans");
  await add(floor, project, "One", "Two");
  const page = await floor.owner({ viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
  await page.goto(`/p/${project.id}/tasks`);
  await has(page, "Ready", "One", "Two");
  await box(page, "One").tap();
  await box(page, "Two").tap();
  await expect(bar(page)).toContainText("2 selected");
  expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
  await check(page, "a selection on a phone");
  await bar(page).getByRole("button", { name: "Cancel…" }).tap();
  await page.getByRole("button", { name: "Cancel 2 tasks" }).tap();
  await has(page, "Ready");
});
