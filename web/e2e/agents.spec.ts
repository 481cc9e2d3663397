import { expect, live, test } from "./fixtures";
import { Model, type Turn } from "./model";
import { projectWithCode, screen } from "./work";

test.use({ agents: true });

const SCRIPT: Turn[] = [
  { write: "greeting.txt", text: "hello\nworld\n" },
  { say: "The greeting is written." },
];

const WAYS = [
  { agent: "codex", label: /Codex/, mode: "headless", used: "2.0k in · 60 out" },
  { agent: "codex", label: /Codex/, mode: "interactive", used: "2.0k in · 60 out" },
  { agent: "opencode", label: /opencode/, mode: "headless", used: "2.0k in · 60 out" },
  // It reports usage only with structured output.
  { agent: "opencode", label: /opencode/, mode: "interactive", used: "" },
] as const;

for (const { agent, label, mode, used } of WAYS) {
  test(`the real ${agent} is started from the page, ${mode}, and its work is visible`, async ({ floor }) => {
    test.setTimeout(180_000);
    const model = new Model(SCRIPT);
    await model.start(floor.hub.dir);
    try {
      const project = await projectWithCode(floor);
      const page = await floor.owner();
      await page.goto(`/p/${project.id}`);
      await live(page);
      await page.keyboard.press("a");
      const dialog = page.getByRole("dialog", { name: "Start an agent" });
      await dialog.getByLabel("Prompt").fill("Write a greeting");
      await dialog.getByRole("radio", { name: label }).check();
      await dialog.getByText("Model, sandbox, runner and more").click();
      await dialog.getByLabel("Mode", { exact: true }).selectOption(mode);
      await dialog.getByRole("button", { name: "Start", exact: true }).click();
      await expect(page).toHaveURL(/\/s\/ses_/);
      const status = page.getByRole("group", { name: /Status of/ });
      await expect(screen(page)).toContainText("The greeting is written.", { timeout: 60_000 });
      await expect(status).toContainText(used, { timeout: 20_000 });
      await expect(status).toContainText("1 file +2", { timeout: 20_000 });
      if (mode === "headless") {
        await expect(status).toContainText("Finished");
        await expect(page.getByRole("button", { name: "Resume" })).toBeVisible();
      }
      if (mode === "interactive") await expect(status).toContainText(/Idle|Waiting/, { timeout: 20_000 });
      await page.getByRole("button", { name: "Show the diff" }).click();
      const panel = page.getByRole("complementary", { name: "Changes in the workspace" });
      await expect(panel.getByRole("region", { name: "greeting.txt" })).toContainText("hello");
      await page.getByRole("link", { name: "Write a greeting" }).first().click();
      const detail = page.getByRole("complementary", { name: "Activity" });
      await expect(detail.getByRole("region", { name: "Workspaces" })).toContainText("1 file +2");
      await expect(detail.getByRole("region", { name: "Sessions" })).toContainText(agent);
    } finally {
      model.stop();
    }
  });
}
