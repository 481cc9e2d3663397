import type { NewObserver } from "../src/protocol";
import { expect, live, sidebar, test } from "./fixtures";

test("a login link works once and leaves no secret behind", async ({ floor }) => {
  const page = await floor.stranger();
  await page.goto(floor.hub.loginLink);
  await live(page);
  expect(page.url()).not.toContain("#");
  await page.goBack().catch(() => undefined);
  expect(page.url()).not.toContain("login#");

  const second = await floor.stranger();
  await second.goto(floor.hub.loginLink);
  await expect(second.getByRole("alert")).toContainText("This login link was already used");
  await expect(second.getByText("shopfloor login", { exact: true })).toBeVisible();
});

test("a person without a login returns to the linked page after logging in", async ({ floor }) => {
  const project = await floor.project("Plans");
  const page = await floor.stranger();
  await page.goto(`/p/${project.id}`);
  await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();
  await expect(page.getByText("shopfloor login", { exact: true })).toBeVisible();
  await expect(page.getByText("Plans")).toHaveCount(0);
  await page.goto(floor.hub.loginLink);
  await live(page);
  await expect(page).toHaveURL(`/p/${project.id}`);
});

test("an invitation works once", async ({ floor }) => {
  const ann = await floor.owner();
  await ann.goto("/people");
  await ann.getByRole("button", { name: "Invite" }).click();
  await ann.getByLabel("Who is the invitation for?").fill("Bo");
  await ann.getByRole("button", { name: "Create invitation" }).click();
  const link = await ann.getByLabel("Secret", { exact: true }).inputValue();
  await expect(ann.getByRole("note")).toContainText("This link works only on this machine");
  await ann.getByRole("button", { name: "Done" }).click();

  const bo = await floor.stranger();
  await bo.goto(link);
  await bo.getByLabel("Your name").fill("Bo");
  await bo.getByRole("button", { name: "Join" }).click();
  await live(bo);
  expect(bo.url()).not.toContain("#");
  await expect(ann.getByRole("listitem").filter({ hasText: "Bo" })).toContainText("Online");

  const again = await floor.stranger();
  await again.goto(link);
  await again.getByLabel("Your name").fill("Mallory");
  await again.getByRole("button", { name: "Join" }).click();
  await expect(again.getByRole("alert")).toContainText("invitation was already used");
  await expect(again.getByRole("alert")).not.toContainText("Bo");
  await ann.goto("/settings");
  await expect(ann.getByRole("region", { name: "Invitations" })).toContainText("accepted by Bo");
});

test("an observer can read one project and change nothing", async ({ floor }) => {
  const project = await floor.project("Open kitchen", "private");
  await floor.project("Other plans");
  await floor.activity(project, "Soup");
  await floor.say(project, "it simmers");
  const made = await floor.hub.api<NewObserver>("POST", `/api/projects/${project.id}/observers`, {
    name: "press",
  });
  const page = await floor.stranger();
  await page.goto(made.link);
  await live(page);
  await expect(page).toHaveURL(new RegExp(`/p/${project.id}$`));
  await expect(page.getByText("it simmers")).toBeVisible();
  await expect(sidebar(page)).not.toContainText("Other plans");
  await expect(page.getByLabel("Message", { exact: true })).toHaveCount(0);
  for (const name of ["New project", "New activity", "Edit", "Delete message"]) {
    await expect(page.getByRole("button", { name, exact: true })).toHaveCount(0);
  }
  await floor.say(project, "it is served");
  await expect(page.getByText("it is served", { exact: true })).toBeVisible();
  await sidebar(page).getByRole("link", { name: "Soup" }).click();
  await expect(page.getByRole("complementary", { name: "Activity" })).toContainText("Soup");

  await floor.hub.api("DELETE", `/api/observers/${made.observer.id}`);
  await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();
  await expect(page.getByText("it simmers")).toHaveCount(0);
});

test("tokens are shown once, and all logins can be revoked", async ({ floor }) => {
  const page = await floor.owner();
  const elsewhere = await floor.owner();
  await page.goto("/settings");
  await page.getByLabel("Token name").fill("laptop");
  await page.getByRole("button", { name: "Create token" }).click();
  const secret = await page.getByLabel("Secret", { exact: true }).inputValue();
  expect(secret).toMatch(/^sf_/);
  const tokens = page.getByRole("region", { name: "Tokens" });
  await expect(tokens.getByRole("listitem").filter({ hasText: "laptop" })).toContainText("never used");
  await page.reload();
  await expect(tokens.getByRole("listitem").filter({ hasText: "laptop" })).toBeVisible();
  await expect(page.getByLabel("Secret", { exact: true })).toHaveCount(0);
  await tokens.getByRole("button", { name: "Revoke laptop" }).click();
  await expect(tokens.getByRole("listitem").filter({ hasText: "laptop" })).toHaveCount(0);

  await page.getByLabel("Name", { exact: true }).fill("Ann Meyer");
  await page.getByRole("button", { name: "Rename" }).click();
  await elsewhere.goto("/people");
  await expect(elsewhere.getByText("Ann Meyer")).toBeVisible();

  await page.getByRole("button", { name: "Log out everywhere" }).click();
  await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();
  await expect(elsewhere.getByRole("heading", { name: "Log in" })).toBeVisible();
});

test("logging out ends the login", async ({ floor }) => {
  const page = await floor.owner();
  await page.goto("/settings");
  await page.getByRole("button", { name: "Log out", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();
});
