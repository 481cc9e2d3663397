import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "./fixtures";

/** A page of another origin on the same host, for which the browser would send the hub's cookie. */
async function elsewhere(): Promise<{ url: string; server: Server }> {
  const server = createServer((_, answer) => {
    answer.setHeader("content-type", "text/html");
    answer.end("<!doctype html><title>elsewhere</title>");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server };
}

test("a page of another origin cannot use the login", async ({ floor }) => {
  const project = await floor.project("Ours");
  const page = await floor.owner();
  const { url, server } = await elsewhere();
  try {
    await page.goto(url);
    const hub = floor.hub.url;
    const target = `${hub}/api/projects/${project.id}/messages`;

    const socket = page.evaluate(
      (address) =>
        new Promise<string>((done) => {
          const socket = new WebSocket(address);
          socket.onopen = () => done("open");
          socket.onerror = () => done("refused");
        }),
      `${hub.replace("http", "ws")}/api/ws`,
    );
    expect(await socket).toBe("refused");

    // Requests that a browser sends without a preflight.
    const attempts = await page.evaluate(async (address) => {
      const bodies = {
        "text/plain": '{"content":"planted"}',
        "application/x-www-form-urlencoded": "content=planted",
      };
      const outcomes: string[] = [];
      for (const [kind, body] of Object.entries(bodies)) {
        for (const mode of ["no-cors", "cors"] as const) {
          const request = fetch(address, {
            method: "POST",
            mode,
            credentials: "include",
            headers: { "content-type": kind },
            body,
          });
          outcomes.push(await request.then((answer) => answer.type).catch(() => "failed"));
        }
      }
      const read = fetch(address, { credentials: "include" });
      outcomes.push(await read.then((answer) => answer.text()).catch(() => "failed"));
      return outcomes;
    }, target);
    expect(attempts.every((outcome) => ["opaque", "failed"].includes(outcome))).toBe(true);

    await page.evaluate((address) => {
      const form = document.createElement("form");
      form.method = "post";
      form.action = address;
      document.body.append(form);
      form.submit();
    }, target);
    await page.waitForURL(target);
    await expect(page.locator("body")).toContainText("other origins");

    expect(await floor.hub.api<unknown[]>("GET", `/api/projects/${project.id}/messages`)).toEqual([]);
  } finally {
    await new Promise((done) => server.close(done));
  }
});
