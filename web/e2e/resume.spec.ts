import { expect, live, say, sidebar, test } from "./fixtures";

test("the page reconnects and catches up after a hub crash", async ({ floor }) => {
  const project = await floor.project("Plans");
  await floor.say(project, "before");
  const page = await floor.owner();
  await page.goto(`/p/${project.id}`);
  await expect(page.getByText("before")).toBeVisible();

  await floor.hub.kill();
  await expect(page.locator("[data-connection=waiting], [data-connection=connecting]")).toContainText(
    "Reconnecting",
  );
  await expect(page.getByText("The hub is not responding.")).toBeVisible();
  await expect(page.getByText("before")).toBeVisible();
  await say(page, "written while it was down");
  await expect(page.getByText("Will be sent after reconnecting")).toBeVisible();

  await floor.hub.start();
  await floor.say(project, "while you were away");
  await floor.activity(project, "Missed work");
  await live(page);
  await expect(page.getByText("while you were away", { exact: true })).toBeVisible();
  await expect(sidebar(page).getByRole("link", { name: "Missed work" })).toBeVisible();
  await expect(page.getByText("Will be sent after reconnecting")).toHaveCount(0);
  await expect(page.getByText("written while it was down")).toHaveCount(1);
  await page.reload();
  await expect(page.getByText("written while it was down")).toHaveCount(1);
});

test("a reload keeps the page, and back works", async ({ floor }) => {
  const project = await floor.project("Plans");
  const activity = await floor.activity(project, "Parser");
  const page = await floor.owner();
  await sidebar(page).getByRole("link", { name: "Plans" }).click();
  await sidebar(page).getByRole("link", { name: "Parser" }).click();
  await expect(page).toHaveURL(`/p/${project.id}/a/${activity.id}`);
  await page.getByLabel("Message", { exact: true }).fill("half a thou");
  await page.reload();
  await live(page);
  await expect(page.getByRole("complementary", { name: "Activity" })).toContainText("Parser");
  await expect(page.getByLabel("Message", { exact: true })).toHaveValue("half a thou");
  await page.goBack();
  await expect(page).toHaveURL(`/p/${project.id}`);
  await page.goBack();
  await expect(page).toHaveURL("/");
  await page.goto("/nowhere");
  await expect(page.getByRole("heading", { name: "Not found" })).toBeVisible();
});

test("a long chat loads in pages and keeps its scroll position", async ({ floor }) => {
  const project = await floor.project("Talk");
  for (let number = 1; number <= 260; number++) await floor.say(project, `line ${number}.`);
  const page = await floor.owner();
  await page.goto(`/p/${project.id}`);
  await expect(page.getByText("line 260.")).toBeVisible();
  const list = page.getByRole("region", { name: "Messages" });
  expect(await list.getByRole("article").count()).toBeLessThan(80);
  await list.focus();
  await expect(async () => {
    await page.keyboard.press("Home");
    await expect(page.getByText("This is the start of the conversation.")).toBeVisible({ timeout: 500 });
  }).toPass();
  await expect(page.getByText("line 1.", { exact: true })).toBeVisible();

  await floor.say(project, "news below");
  await expect(page.getByRole("button", { name: "1 new message" })).toBeVisible();
  await expect(page.getByText("line 1.", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "1 new message" }).click();
  await expect(page.getByText("news below", { exact: true })).toBeVisible();
});
