import { expect, live, say, sidebar, test } from "./fixtures";

test("changes appear on other pages", async ({ floor }) => {
  const ann = await floor.owner();
  const bo = await floor.guest("Bo");

  await test.step("a project", async () => {
    await ann.getByRole("button", { name: "New project" }).click();
    await ann.getByLabel("Name", { exact: true }).fill("Payments rewrite");
    await ann.getByLabel("Goals (optional)").fill("No downtime.");
    await ann.getByLabel("Read-write").check();
    await ann.getByRole("button", { name: "Create project" }).click();
    await expect(ann).toHaveURL(/\/p\/prj_/);
    await sidebar(bo).getByRole("link", { name: "Payments rewrite" }).click();
    await expect(bo.getByText("No downtime.")).toBeVisible();
  });

  await test.step("an activity", async () => {
    await bo.getByRole("main").getByRole("button", { name: "New activity" }).click();
    await bo.getByLabel("Activity name and plan").fill("Backfill entries\nfrom 2019");
    await bo.getByRole("button", { name: "Create activity" }).click();
    await expect(bo).toHaveURL(/\/a\/act_/);
    await sidebar(ann).getByRole("link", { name: "Backfill entries" }).click();
    await expect(ann.getByRole("complementary", { name: "Activity" })).toContainText("from 2019");
  });

  await test.step("a status", async () => {
    await bo.getByLabel("Status").selectOption("blocked");
    await expect(ann.getByLabel("Status")).toHaveValue("blocked");
    await expect(ann.getByRole("region", { name: "Needs you" }).first()).toContainText("Backfill entries");
  });

  await test.step("a text, with its history", async () => {
    const detail = ann.getByRole("complementary", { name: "Activity" });
    await detail.getByRole("button", { name: "Edit" }).click();
    await detail.getByLabel("Description of the activity").last().fill("Backfill entries\nfrom 2020");
    await detail.getByRole("button", { name: "Save" }).click();
    const other = bo.getByRole("complementary", { name: "Activity" });
    await expect(other).toContainText("from 2020");
    await other.getByRole("button", { name: "History" }).click();
    const change = other.getByRole("group", { name: "Changes in version 2" });
    await expect(change).toContainText("from 2019");
    await expect(change).toContainText("from 2020");
  });

  await test.step("links", async () => {
    await bo.getByRole("button", { name: "Add link" }).click();
    await bo.getByLabel("ID or name").fill("feature/backfill");
    await bo.getByRole("button", { name: "Add", exact: true }).click();
    await expect(ann.getByText("feature/backfill")).toBeVisible();
  });

  await test.step("chat: send, refer, edit, delete", async () => {
    const activity = /act_[0-9a-f]{32}/.exec(ann.url())?.[0] ?? "";
    await say(ann, `hello **Bo**, see #${activity}`);
    const heard = bo.getByRole("article", { name: /message 1$/ });
    await expect(heard.getByText("Bo", { exact: true })).toBeVisible();
    await expect(heard.getByRole("link", { name: "#Backfill entries" })).toBeVisible();
    await expect(ann.getByRole("article")).toHaveCount(1);

    await ann.getByLabel("Message", { exact: true }).press("ArrowUp");
    await ann.getByLabel("Edit message").last().fill("hello again");
    await ann.keyboard.press("Enter");
    await expect(heard).toContainText("hello again");
    await expect(heard).toContainText("edited");

    await ann.getByRole("article").hover();
    await ann.getByRole("button", { name: "Delete message" }).click();
    await ann.getByRole("button", { name: "Delete", exact: true }).click();
    await expect(heard).toContainText("Message deleted");
    await expect(heard).not.toContainText("hello again");
  });

  await test.step("presence", async () => {
    await expect(ann.getByRole("link", { name: /People online.*Viewing this project: Bo/ })).toBeVisible();
    await ann.goto("/people");
    await expect(
      ann.getByRole("listitem").filter({ hasText: "Bo" }).filter({ hasText: "Online" }),
    ).toContainText("viewing Backfill entries");
    await bo.close();
    await expect(ann.getByRole("listitem").filter({ hasText: "last seen" })).toContainText("Bo");
  });
});

test("changed access rights apply immediately", async ({ floor }) => {
  const project = await floor.project("Shared plans");
  const ann = await floor.owner();
  const bo = await floor.guest("Bo");
  await ann.goto(`/p/${project.id}/settings`);
  await bo.goto(`/p/${project.id}`);
  await expect(bo.getByLabel("Message", { exact: true })).toBeVisible();

  await ann.getByLabel("Read-only").click();
  await expect(bo.getByText("Read-only. Ask")).toBeVisible();
  await expect(bo.getByLabel("Message", { exact: true })).toHaveCount(0);
  await expect(bo.getByRole("main").getByRole("button", { name: "New activity" })).toHaveCount(0);

  await ann.getByLabel("Private").click();
  await expect(bo.getByRole("heading", { name: "This project is gone" })).toBeVisible();
  await expect(sidebar(bo)).not.toContainText("Shared plans");
  await bo.reload();
  await live(bo);
  await expect(bo.getByRole("heading", { name: "Not found" })).toBeVisible();

  await ann.getByLabel("Read-write").click();
  await expect(sidebar(bo).getByRole("link", { name: "Shared plans" })).toBeVisible();
  await expect(bo.getByLabel("Message", { exact: true })).toBeVisible();
});

test("two people who edit the same text lose nothing", async ({ floor }) => {
  const project = await floor.project("Plans");
  const activity = await floor.activity(project, "Parser\none\ntwo\nthree");
  const ann = await floor.owner();
  const bo = await floor.guest("Bo");
  const edit = async (page: typeof ann, text: string) => {
    await page.goto(`/p/${project.id}/a/${activity.id}`);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByRole("textbox", { name: "Description of the activity" }).fill(text);
  };
  await edit(ann, "Parser\nONE\ntwo\nthree");
  await edit(bo, "Parser\none\ntwo\nTHREE");
  await bo.getByRole("button", { name: "Save" }).click();
  await expect(bo.getByRole("button", { name: "Save" })).toHaveCount(0);

  await expect(ann.getByText("Version 2 was saved while you were editing.")).toBeVisible();
  await expect(ann.getByRole("button", { name: "Save" })).toBeDisabled();
  await ann.reload();
  await expect(ann.getByRole("textbox", { name: "Description of the activity" })).toHaveValue(
    "Parser\nONE\ntwo\nthree",
  );
  await ann.getByRole("button", { name: "Take theirs" }).click();
  await ann.getByRole("button", { name: "Restore my text" }).click();
  await expect(ann.getByRole("textbox", { name: "Description of the activity" })).toHaveValue(
    "Parser\nONE\ntwo\nthree",
  );
  await expect(ann.getByRole("button", { name: "Merge", exact: true })).toBeVisible();
  await floor.hub.api("PATCH", `/api/activities/${activity.id}`, {
    content: "Parser\none\ntwo\nTHREE\nfour",
  });
  await expect(ann.getByText("Version 3 was saved while you were editing.")).toBeVisible();
  await ann.getByRole("button", { name: "Merge", exact: true }).click();
  await expect(ann.getByRole("textbox", { name: "Description of the activity" })).toHaveValue(
    "Parser\nONE\ntwo\nTHREE\nfour",
  );
  await ann.getByRole("button", { name: "Save" }).click();
  await expect(bo.getByRole("complementary", { name: "Activity" })).toContainText("ONE");
});

test("unread counts, mentions and reading", async ({ floor }) => {
  const project = await floor.project("Plans");
  const other = await floor.project("Elsewhere");
  const bo = await floor.guest("Bo Lee");
  await bo.goto(`/p/${other.id}`);
  await live(bo);
  await floor.say(project, "first");
  await floor.say(project, "second for @Bo Lee");
  const row = sidebar(bo).getByRole("link", { name: /^Plans/ });
  await expect(row).toContainText("1 mention, 2 unread");
  await expect(bo).toHaveTitle(/^\(1 needs you\) /);
  await row.click();
  await expect(bo.getByText("New", { exact: true })).toBeVisible();
  await expect(bo.getByText("@Bo Lee")).toBeVisible();
  await expect(row).not.toContainText("unread");
  await bo.reload();
  await live(bo);
  await expect(bo.getByRole("article")).toHaveCount(2);
  await expect(row).not.toContainText("unread");
});

test("a deleted project leaves every page", async ({ floor }) => {
  const project = await floor.project("Short-lived");
  const ann = await floor.owner();
  const bo = await floor.guest("Bo");
  await bo.goto(`/p/${project.id}`);
  await ann.goto(`/p/${project.id}/settings`);
  await ann.getByRole("button", { name: "Delete project" }).click();
  const sure = ann.getByRole("button", { name: "Delete for everyone" });
  await expect(sure).toBeDisabled();
  await ann.getByLabel("Type the project name to confirm").fill("Short-lived");
  await sure.click();
  await expect(ann).toHaveURL(/\/$/);
  await expect(sidebar(ann)).not.toContainText("Short-lived");
  await expect(bo.getByRole("heading", { name: "This project is gone" })).toBeVisible();
});
