import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { check } from "./axe";
import { expect, live, test } from "./fixtures";
import { column } from "./queue";
import { projectWithCode, repository, runner } from "./work";

/** The scripted agent of the newcomer: it writes a file and commits it. */
const WORK =
  "echo notes > NOTES.md && git add NOTES.md && " +
  "git -c user.name=Bo -c user.email=bo@example.org commit -qm 'Write the notes' && echo written";

test("a newcomer gets from an empty floor to the first landed change", async ({ floor }) => {
  test.setTimeout(240_000);
  await runner(floor);
  const code = repository(floor);
  const page = await floor.owner();

  await test.step("a mistyped repository is caught before anything is created", async () => {
    await page.getByRole("button", { name: "New project" }).click();
    const dialog = page.getByRole("dialog", { name: "New project" });
    const place = dialog.getByRole("combobox", { name: "Repository" });
    const create = dialog.getByRole("button", { name: "Create project" });
    await place.fill(`${code}x`);
    await expect(dialog).toContainText(`There is no folder ${code}x`);
    await expect(create).toBeDisabled();
    // The folders of this test are inside our own repository.
    await place.fill("/usr/share");
    await expect(dialog).toContainText("not a git repository");
    await expect(create).toBeDisabled();
    await check(page, "a mistyped repository");
  });

  await test.step("the repository is completed, and names the project", async () => {
    const dialog = page.getByRole("dialog", { name: "New project" });
    const place = dialog.getByRole("combobox", { name: "Repository" });
    await place.fill(`${join(floor.hub.dir, "code")}/sh`);
    const option = dialog.getByRole("option", { name: code });
    await expect(option).toContainText("repository");
    await check(page, "completed folders");
    await place.press("ArrowDown");
    await place.press("Enter");
    await expect(place).toHaveValue(`${code}/`);
    await expect(dialog).toContainText("Branch main.");
    await expect(dialog.getByLabel("Name", { exact: true })).toHaveAttribute("placeholder", "shop");
    await dialog.getByRole("button", { name: "Create project" }).click();
    await expect(page.getByRole("heading", { name: "shop" }).first()).toBeVisible();
  });

  const steps = page.getByRole("region", { name: "First steps" });
  await test.step("the first steps lead to a plan", async () => {
    await expect(steps).toContainText(code);
    await steps.getByRole("button", { name: "Add a plan" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Paste Markdown or JSON" }).click();
    await dialog.getByLabel("Tasks", { exact: true }).fill("- [ ] Write NOTES.md");
    await dialog.getByRole("button", { name: "Add task", exact: true }).click();
    await expect(dialog).toHaveCount(0);
    await expect(column(page, "Ready")).toContainText("Write NOTES.md");
  });

  const id = new URL(page.url()).pathname.split("/")[2] ?? "";
  await test.step("checks and landing are set", async () => {
    await page.goto(`/p/${id}/merge`);
    await page.locator("summary", { hasText: "Settings" }).click();
    await page.getByLabel("Check 1", { exact: true }).fill("test -f README.md");
    await page.getByRole("button", { name: "Save checks" }).click();
    await expect(page.getByText("Saved.")).toBeVisible();
    await page.goto(`/p/${id}/settings`);
    await page.getByLabel("Accepted work lands").selectOption("automatic");
  });

  await test.step("a worker does it, and it lands on main", async () => {
    await page.goto(`/p/${id}/workers`);
    await page.getByRole("button", { name: "Start workers" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("radio", { name: "Command" }).check();
    await dialog.getByLabel("Command", { exact: true }).last().fill(`sh -c "${WORK}"`);
    await dialog.getByRole("button", { name: /^Start .*worker/ }).click();
    await page.goto(`/p/${id}/tasks`);
    await expect(column(page, "Done")).toContainText("Write NOTES.md", { timeout: 60_000 });
    const main = () => execFileSync("git", ["log", "--format=%s", "main"], { cwd: code, encoding: "utf8" });
    await expect.poll(main, { timeout: 60_000 }).toContain("Write the notes");
  });
});

test("dismissed first steps come back, for each project", async ({ floor }) => {
  const project = await projectWithCode(floor, "First");
  const second = await floor.project("Second");
  const page = await floor.owner();
  const steps = page.getByRole("region", { name: "First steps" });
  await page.goto(`/p/${project.id}`);
  await expect(steps.getByRole("button", { name: "Start an agent" })).toBeVisible();
  await check(page, "the first steps");
  await steps.getByRole("button", { name: "Dismiss the first steps" }).click();
  await expect(steps).toHaveCount(0);
  await page.reload();
  await expect(page.getByLabel("Message", { exact: true })).toBeVisible();
  await expect(steps).toHaveCount(0);
  await page.goto(`/p/${second.id}`);
  await expect(steps).toContainText("no repository");
  await page.goto(`/p/${project.id}`);
  // A page that is not there yet hears no keys.
  await live(page);
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("dialog").getByRole("combobox")).toBeFocused();
  await page.keyboard.type("first steps");
  await page.keyboard.press("Enter");
  await expect(steps).toBeVisible();
  await steps.getByRole("button", { name: "Dismiss the first steps" }).click();
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByRole("button", { name: "Show the first steps" }).click();
  await expect(steps).toBeVisible();
});

test("without a runner, a project can be created and the dialog says how to connect one", async ({
  floor,
}) => {
  const page = await floor.guest("Bo");
  await page.getByRole("button", { name: "New project" }).click();
  const dialog = page.getByRole("dialog", { name: "New project" });
  await expect(dialog).toContainText("shopfloor runner --hub");
  await dialog.getByLabel("Name", { exact: true }).fill("Later");
  await dialog.getByRole("button", { name: "Create project" }).click();
  await expect(page.getByRole("region", { name: "First steps" })).toContainText("no repository");
});
