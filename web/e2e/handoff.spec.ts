import { expect, test } from "./fixtures";
import { projectWithCode, screen } from "./work";

test("a handoff runs to its end in the stepper", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const activity = await floor.activity(project, "Count");
  const { id } = await floor.hub.api<{ id: string }>("POST", "/api/sessions", {
    activity: activity.id,
    agent: "shell",
  });
  const page = await floor.owner();
  await page.goto(`/s/${id}`);
  await expect(screen(page)).toContainText(/[$#%]/);
  await page.locator(".xterm").first().click();
  await page.keyboard.press("Control+h");
  const dialog = page.getByRole("dialog");
  await expect(dialog).toHaveAccessibleName("Hand off shell");
  await dialog.getByLabel("Goal of the fresh session").fill("Count to three");
  await dialog.getByLabel("Edit the document before the session stops").check();
  await dialog.getByRole("button", { name: "Hand off" }).click();

  await dialog.getByRole("textbox", { name: "Document" }).fill("One and two are counted.");
  await dialog.getByRole("button", { name: "Continue with this document" }).click();
  await dialog.getByRole("button", { name: "Acknowledge" }).click();
  const steps = dialog.getByRole("list", { name: "Steps of the handoff" }).getByRole("listitem");
  await expect(steps.filter({ hasText: ": done" })).toHaveCount(6);
  await dialog.getByText("Document", { exact: true }).click();
  await expect(dialog).toContainText("One and two are counted.");

  await dialog.getByRole("link", { name: "Open the fresh session" }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByText("Continues an earlier session")).toBeVisible();
  await page.goto(`/p/${project.id}/a/${activity.id}`);
  const handoffs = page.getByRole("region", { name: "Handoffs" });
  await expect(handoffs).toContainText("Handed off");
  await handoffs.getByRole("button", { name: "What was edited" }).click();
  const compared = handoffs.getByRole("group", { name: "Differences between the documents" });
  await expect(compared).toContainText("The agent wrote nothing");
  await expect(compared).toContainText("One and two are counted.");
});
