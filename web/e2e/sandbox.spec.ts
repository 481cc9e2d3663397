import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { expect, live, test } from "./fixtures";
import { projectWithCode, screen } from "./work";

const LOOK = `sh -c "cat \\$HOME/secret.txt 2>&1; grep -c : /proc/net/dev; touch \\$HOME/made 2>&1; sleep 600"`;

/** Opens the form for a command that tests its access. */
async function open(page: Page, path: string) {
  await page.goto(path);
  await live(page);
  await page.keyboard.press("a");
  const dialog = page.getByRole("dialog", { name: "Start an agent" });
  await dialog.getByRole("radio", { name: /Command/ }).check();
  await dialog.getByLabel("Command", { exact: true }).last().fill(LOOK);
  await dialog.getByText("Model, sandbox, runner and more").click();
  return dialog;
}

test("the sandbox options for home folder and network have effect", async ({ floor }) => {
  const home = join(floor.hub.dir, "home");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "secret.txt"), "the owner's own\n");
  const project = await projectWithCode(floor);
  const page = await floor.owner();

  const hidden = await open(page, `/p/${project.id}`);
  await expect(hidden.getByLabel("Home folder")).toHaveCount(0);
  await hidden
    .getByRole("combobox", { name: "Sandbox", exact: true })
    .selectOption("Write access to its workspace only");
  await hidden.getByLabel("Network", { exact: true }).selectOption("Off");
  await hidden.getByRole("button", { name: "Start", exact: true }).click();
  await expect(screen(page)).toContainText("No such file", { timeout: 30_000 });
  await expect(screen(page).getByText("1", { exact: true })).toBeVisible();
  await expect(screen(page)).not.toContainText("the owner's own");
  await expect(page.getByRole("group", { name: /Status of/ })).toContainText("sandbox");

  const shown = await open(page, `/p/${project.id}`);
  await shown
    .getByRole("combobox", { name: "Sandbox", exact: true })
    .selectOption("Write access to its workspace only");
  await shown.getByLabel("Home folder").selectOption("Read-only");
  await shown.getByRole("button", { name: "Start", exact: true }).click();
  await expect(screen(page)).toContainText("the owner's own", { timeout: 30_000 });
  await expect(screen(page)).toContainText("Read-only file system");
});
