import { expect, live, sidebar, test } from "./fixtures";

test("all features work with the keyboard", async ({ floor }) => {
  const project = await floor.project("Plans");
  await floor.activity(project, "Parser");
  const page = await floor.owner();

  await test.step("the palette finds pages and commands", async () => {
    await page.keyboard.press("Control+k");
    await page.keyboard.type("pars");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/a\/act_/);
    await page.keyboard.press("Control+k");
    await page.keyboard.type("status blocked");
    await page.keyboard.press("Enter");
    await expect(page.getByLabel("Status")).toHaveValue("blocked");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("theme dark");
    await page.keyboard.press("Enter");
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
    await page.keyboard.press("Control+k");
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toHaveCount(0);
  });

  await test.step("the shortcuts are listed", async () => {
    await page.keyboard.press("?");
    await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toContainText(
      "Search pages and commands",
    );
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toHaveCount(0);
  });

  await test.step("j, k, Enter and Escape navigate the sidebar", async () => {
    await page.keyboard.press("Escape");
    await expect(page).toHaveURL(`/p/${project.id}`);
    await page.keyboard.press("j");
    await expect(sidebar(page).getByRole("link", { name: "Parser" }).last()).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/a\/act_/);
    await page.keyboard.press("k");
    await expect(sidebar(page).getByRole("link", { name: /^Plans/ })).toBeFocused();
  });

  await test.step("c focuses the message input, with completion", async () => {
    await page.keyboard.press("c");
    await expect(page.getByLabel("Message", { exact: true })).toBeFocused();
    await page.keyboard.type("see #pars");
    await expect(page.getByRole("option", { name: "Parser" })).toBeVisible();
    await page.keyboard.press("Enter");
    await expect(page.getByLabel("Message", { exact: true })).toHaveValue(/^see #act_[0-9a-f]{32} $/);
    await page.keyboard.press("Enter");
    await expect(page.getByRole("article").getByRole("link", { name: "#Parser" })).toBeVisible();
  });

  await test.step("n creates an activity, [ and ] toggle the side panes", async () => {
    await page.keyboard.press("Escape");
    await page.keyboard.press("n");
    await page.getByLabel("Activity name and plan").fill("Lexer");
    await page.keyboard.press("Control+Enter");
    await expect(page.getByRole("complementary", { name: "Activity" })).toContainText("Lexer");
    await page.keyboard.press("[");
    await expect(sidebar(page)).toBeHidden();
    await page.keyboard.press("[");
    await expect(sidebar(page)).toBeVisible();
  });

  await test.step("single keys can be turned off", async () => {
    await page.goto("/settings");
    await live(page);
    await page.getByLabel("Single-key shortcuts").click();
    await page.locator("main").focus();
    await page.keyboard.press("?");
    await page.keyboard.press("Control+k");
    await expect(page.getByRole("dialog", { name: "Search pages and commands" })).toBeVisible();
    await expect(page.getByRole("dialog")).toHaveCount(1);
  });
});
