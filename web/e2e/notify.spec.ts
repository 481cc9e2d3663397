import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, live, test } from "./fixtures";

/** A receiver that accepts everything and keeps what it got. */
async function receiver() {
  const got: { path: string; body: string }[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      got.push({ path: request.url ?? "", body });
      response.end();
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    got,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => server.close(),
  };
}

test("a person adds a channel, tests it, chooses kinds and removes it", async ({ floor }) => {
  const ntfy = await receiver();
  const page = await floor.owner();
  await page.goto("/settings");
  await live(page);
  const section = page.getByRole("region", { name: "Notifications" });
  await expect(section.getByText("No other channels")).toBeVisible();

  await section.getByLabel("Address").fill(`${ntfy.url}/my-topic`);
  await section.getByRole("button", { name: "Add", exact: true }).click();
  const row = section.getByRole("listitem");
  await expect(row).toContainText("ntfy at 127.0.0.1");
  await expect(row).toContainText("Nothing sent yet");
  await row.getByRole("button", { name: /Send a test/ }).click();
  await expect(row.getByRole("status")).toHaveText("Delivered: 127.0.0.1 accepted the message");
  expect(ntfy.got.map(({ path }) => path)).toEqual(["/"]);
  expect(JSON.parse(ntfy.got[0]?.body ?? "")).toMatchObject({ topic: "my-topic" });

  await expect(row.getByLabel("Done tasks")).not.toBeChecked();
  await row.getByLabel("Done tasks").check();
  await row.getByLabel("Mentions").uncheck();
  await expect(row.getByLabel("Mentions")).not.toBeChecked();
  await page.reload();
  await live(page);
  await expect(row.getByLabel("Done tasks")).toBeChecked();
  await expect(row.getByLabel("Mentions")).not.toBeChecked();

  ntfy.stop();
  await row.getByRole("button", { name: /Send a test/ }).click();
  await expect(row.getByRole("status")).toHaveText("Not delivered: the receiver cannot be reached");
  await row.getByRole("button", { name: "Remove" }).click();
  await expect(row.getByText(/^Nothing is sent to ntfy/)).toBeVisible();
  await row.getByRole("button", { name: "Remove" }).last().click();
  await expect(section.getByText("No other channels")).toBeVisible();
});

test("a webhook shows its secret once, and a private address is refused", async ({ floor }) => {
  const page = await floor.owner();
  await page.goto("/settings");
  await live(page);
  const section = page.getByRole("region", { name: "Notifications" });
  await section.getByLabel("Kind of channel").selectOption("webhook");
  await section.getByLabel("Address").fill("https://10.1.2.3/hook");
  await section.getByRole("button", { name: "Add", exact: true }).click();
  await expect(section.getByText(/not a public address/)).toBeVisible();
  await section.getByLabel("Address").fill("https://hooks.example.org/T0/plugh");
  await section.getByRole("button", { name: "Add", exact: true }).click();
  await expect(section.getByLabel("Secret", { exact: true })).toHaveValue(/^whsec_/);
  await expect(section.getByRole("listitem")).toContainText("hooks.example.org");
  await page.reload();
  await live(page);
  await expect(section.getByRole("listitem")).toContainText("hooks.example.org");
  await expect(section.getByText(/plugh|whsec_/)).toHaveCount(0);
  await section.getByRole("button", { name: "Remove" }).click();
  await section.getByRole("button", { name: "Remove" }).last().click();
});

test("quiet hours are kept with the time zone", async ({ floor }) => {
  const page = await floor.owner();
  await page.goto("/settings");
  await live(page);
  const section = page.getByRole("region", { name: "Notifications" });
  await section.getByLabel("Quiet hours").click();
  const form = section.getByRole("form", { name: "Quiet hours" });
  await form.getByLabel("From").fill("21:30");
  await form.getByLabel("Time zone").fill("Asia/Tokyo");
  await form.getByRole("button", { name: "Save" }).click();
  await expect(form.getByRole("button", { name: "Save" })).toBeDisabled();
  await page.reload();
  await live(page);
  await expect(form.getByLabel("From")).toHaveValue("21:30");
  await expect(form.getByLabel("Time zone")).toHaveValue("Asia/Tokyo");
  await section.getByRole("switch", { name: "Quiet hours" }).click();
  await expect(form).toHaveCount(0);
});

test("a browser that blocks notifications says what to do", async ({ floor }) => {
  const page = await floor.owner();
  await page.addInitScript(() => {
    Object.defineProperty(Notification, "permission", { get: () => "denied" });
  });
  await page.goto("/settings");
  await live(page);
  const section = page.getByRole("region", { name: "Notifications" });
  const browser = section.getByRole("switch", { name: "Notify this browser" });
  await expect(browser).toBeDisabled();
  await expect(browser).toHaveAccessibleDescription(/Allow them in the site settings/);
});
