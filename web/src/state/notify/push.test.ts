import { describe, expect, it, vi } from "vitest";

vi.stubGlobal("window", { isSecureContext: false });
const { nameOf, push } = await import("./push.svelte");

describe("a browser's name", () => {
  it("says which browser it is and where", () => {
    const android = "Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0";
    const mac =
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15";
    const edge =
      "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0";
    expect([android, mac, edge, "curl/8"].map(nameOf)).toEqual([
      "Firefox on Android",
      "Safari on macOS",
      "Edge on Windows",
      "Browser",
    ]);
  });
});

describe("a page without TLS", () => {
  it("cannot subscribe", () => {
    expect(push.state).toBe("insecure");
  });
});
