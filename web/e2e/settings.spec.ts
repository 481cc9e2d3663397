import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Project } from "../src/protocol";
import { expect, live, say, sidebar, test } from "./fixtures";
import { repository, runner } from "./work";

test("project settings have effect", async ({ floor }) => {
  const project = await floor.project("Plans\n\nfirst text");
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/settings`);

  await page.getByLabel("Share execution").click();
  await expect(page.getByLabel("Share execution")).toBeChecked();
  await expect(page.getByText("Archive recordings")).toHaveCount(0);
  await page.getByLabel("Keep recordings for (days)").fill("soon");
  await expect(page.getByText("Enter a number of days")).toBeVisible();
  await page.getByLabel("Keep recordings for (days)").fill("30");
  const recordings = page.getByRole("region", { name: "Recordings" });
  await recordings.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Recordings expire after 30 days")).toBeVisible();

  await page.getByLabel("Repository URL or path").fill("https://git.example.org/plans.git");
  await page.getByLabel("Base branch").fill("main");
  await page.getByRole("button", { name: "Add repository" }).click();
  await expect(page.getByRole("button", { name: "Remove https://git.example.org/plans.git" })).toBeVisible();

  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByRole("textbox", { name: "Description of the project" }).fill("Better plans\n\nsecond text");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("heading", { name: "Better plans settings" })).toBeVisible();
  await expect(sidebar(page).getByRole("link", { name: "Better plans" })).toBeVisible();
  await page.getByRole("button", { name: "History" }).click();
  await expect(page.getByRole("group", { name: "Changes in version 2" })).toContainText("second text");

  await page.getByLabel("Observer name").fill("press");
  await page.getByRole("button", { name: "Create observer link" }).click();
  await expect(page.getByLabel("Secret", { exact: true })).toHaveValue(/\/observe#/);
  await page.getByRole("button", { name: "Revoke the link for press" }).click();
  await expect(page.getByRole("region", { name: "Observer links" }).getByRole("listitem")).toHaveCount(0);

  await page.reload();
  await live(page);
  await expect(page.getByLabel("Share execution")).toBeChecked();
  await expect(page.getByLabel("Keep recordings for (days)")).toHaveValue("30");
});

test("a repository can be added and edited, with errors beside the fields", async ({ floor }) => {
  const project = await floor.project("Plans");
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/settings`);
  await runner(floor);
  const [code, empty] = [repository(floor), join(floor.hub.dir, "code", "empty")];
  execFileSync("git", ["init", "-q", empty]);
  const section = page.getByRole("region", { name: "Repositories" });
  const fresh = section.getByRole("form", { name: "New repository" });
  const place = fresh.getByLabel("Repository URL or path");
  for (const [path, why] of [
    [`${code}x`, `There is no folder ${code}x`],
    [empty, "has no commits yet"],
  ] as const) {
    await place.fill(path);
    await place.press("Escape");
    await expect(place).toHaveAccessibleDescription(new RegExp(why));
    await fresh.getByRole("button", { name: "Add repository" }).click();
    await expect(section.getByRole("listitem")).toHaveCount(0);
  }
  await place.fill(`${code}#next`);
  await fresh.getByText("Setup, teardown, files to copy and ports").click();
  await fresh.getByLabel("Setup", { exact: true }).fill("npm ci");
  await fresh.getByLabel("Ports", { exact: true }).fill("4000");
  await fresh.getByRole("button", { name: "Add repository" }).click();
  await expect(fresh.getByLabel("Ports", { exact: true })).toHaveAccessibleDescription(
    /`4000` is not a range of ports, such as 4000-4099/,
  );
  await fresh.getByLabel("Ports", { exact: true }).fill("80-99");
  await fresh.getByRole("button", { name: "Add repository" }).click();
  await expect(fresh.getByLabel("Ports", { exact: true })).toHaveAccessibleDescription(
    /a range from 1024 on/,
  );
  await fresh.getByLabel("Ports", { exact: true }).fill("4000-4099");
  await fresh.getByLabel("Files to copy").fill(".env\nconfig/*.local");
  await fresh.getByLabel("Teardown").fill("make\u0007clean");
  await fresh.getByRole("button", { name: "Add repository" }).click();
  await expect(fresh.getByLabel("Teardown")).toHaveAccessibleDescription(/U\+0007/);
  await fresh.getByLabel("Teardown").fill("make clean");
  await fresh.getByRole("button", { name: "Add repository" }).click();
  const row = section.getByRole("listitem");
  for (const part of [code, "next", "npm ci", "make clean", ".env, config/*.local", "4000-4099"])
    await expect(row.getByText(part, { exact: true })).toBeVisible();
  await expect(fresh.getByLabel("Repository URL or path")).toHaveValue("");

  await row.getByRole("button", { name: `Edit ${code}` }).click();
  const form = section.getByRole("form", { name: `Repository ${code}` });
  await expect(form.getByLabel("Repository URL or path")).toBeFocused();
  await form.getByLabel("Repository URL or path").fill("https://git.example.org/plans.git");
  await form.getByRole("button", { name: "Save repository" }).click();
  await expect(form.getByLabel("Files to copy")).toHaveAccessibleDescription(
    /has ignored files to copy from/,
  );
  await form.getByLabel("Files to copy").fill("");
  await form.getByLabel("Setup", { exact: true }).fill("");
  // A concurrent change is not overwritten, and the input is kept.
  const other = { location: code, base_branch: "next", setup: "pnpm install" };
  await floor.hub.api("PATCH", `/api/projects/${project.id}`, { repositories: [other] });
  await form.getByRole("button", { name: "Save repository" }).click();
  await expect(form.getByRole("alert")).toContainText("changed or removed this repository");
  await expect(form.getByLabel("Repository URL or path")).toHaveValue("https://git.example.org/plans.git");
  await form.getByLabel("Repository URL or path").press("Escape");
  await expect(row).toContainText("pnpm install");
  await row.getByRole("button", { name: `Edit ${code}` }).click();
  await form.getByLabel("Setup", { exact: true }).fill("");
  await form.getByLabel("Base branch").fill("main");
  await form.getByRole("button", { name: "Save repository" }).click();
  await expect(row.getByRole("button", { name: `Edit ${code}` })).toBeFocused();
  await expect(row).toContainText("main");
  await expect(row).not.toContainText("pnpm install");
  const { repositories } = await floor.hub.api<Project>("GET", `/api/projects/${project.id}`);
  expect(repositories).toEqual([{ location: code, base_branch: "main" }]);
});

test("people, runners and the audit trail", async ({ floor }) => {
  const project = await floor.project("Plans");
  const page = await floor.owner();
  const bo = await floor.guest("Bo");

  await page.goto("/runners");
  await page.getByLabel("Runner name").fill("laptop");
  await page.getByRole("button", { name: "Register runner" }).click();
  await expect(page.getByLabel("Secret", { exact: true })).toHaveValue(/^sf_/);
  await expect(page.getByRole("listitem").filter({ hasText: "laptop" })).toContainText("Never connected");
  await bo.goto("/runners");
  await expect(bo.getByText("laptop")).toBeVisible();
  await page.getByRole("button", { name: "Remove laptop" }).click();
  await expect(bo.getByText("laptop")).toHaveCount(0);

  await page.goto("/audit");
  await expect(page.getByRole("cell", { name: /runner\.remove/ })).toBeVisible();
  await page.getByLabel("Project", { exact: true }).selectOption("Plans");
  await expect(page).toHaveURL(`/audit?project=${project.id}`);
  await expect(page.getByRole("cell", { name: /project\.create/ })).toBeVisible();
  await expect(page.getByRole("cell", { name: /runner\.remove/ })).toHaveCount(0);

  await page.goto("/people");
  await page.getByRole("button", { name: "Disable" }).click();
  await expect(bo.getByRole("heading", { name: "Log in" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Enable" })).toBeVisible();
});

test("a rejected message stays with its error and can be discarded", async ({ floor }) => {
  const project = await floor.project("Plans");
  const page = await floor.owner();
  await page.goto(`/p/${project.id}`);
  await say(page, "turned \u202E around");
  await expect(page.getByText("Not sent")).toBeVisible();
  await expect(page.getByRole("alert")).toContainText("U+202E");
  await page.getByRole("button", { name: "Send again" }).click();
  await expect(page.getByText("Not sent")).toBeVisible();
  await page.getByRole("button", { name: "Discard" }).click();
  await expect(page.getByText("Not sent")).toHaveCount(0);
});

test("an empty hub shows the next step", async ({ floor }) => {
  const page = await floor.owner();
  await expect(sidebar(page).getByText("No projects yet")).toBeVisible();
  await expect(sidebar(page).getByText("shopfloor demo")).toBeVisible();
  await sidebar(page).getByRole("button", { name: "Create a project" }).click();
  const dialog = page.getByRole("dialog", { name: "New project" });
  await expect(dialog.getByRole("combobox", { name: "Repository" })).toBeFocused();
});

test("a phone shows the sidebar, then the page, then a sheet", async ({ floor }) => {
  const project = await floor.project("Plans");
  await floor.activity(project, "Parser\nreads it all");
  await floor.say(project, "hello");
  const page = await floor.owner({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await sidebar(page)
    .getByRole("link", { name: /^Plans/ })
    .tap();
  await expect(page.getByText("hello", { exact: true })).toBeVisible();
  await expect(sidebar(page)).toHaveCount(0);
  await expect(page.getByRole("complementary")).toHaveCount(0);
  await page.getByRole("button", { name: "Show details" }).tap();
  await page.getByRole("complementary").getByRole("link", { name: "Parser" }).tap();
  await expect(page.getByRole("complementary", { name: "Activity" })).toContainText("reads it all");
  await page.getByRole("button", { name: "Close details" }).tap();
  await page.getByText("hello", { exact: true }).tap();
  await page.getByRole("button", { name: "Edit message" }).tap();
  await page.getByLabel("Edit message").fill("hello again");
  await page.getByRole("button", { name: "Save" }).tap();
  await expect(page.getByText("hello again")).toBeVisible();
  await page.getByRole("link", { name: /Back to the floor/ }).tap();
  await expect(sidebar(page)).toBeVisible();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(wide).toBeLessThanOrEqual(390);
});
