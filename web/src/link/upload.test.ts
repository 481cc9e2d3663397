import { afterEach, describe, expect, it, vi } from "vitest";
import { hashOf, sendContent } from "./upload";

const bytes = (text: string) => new TextEncoder().encode(text).buffer as ArrayBuffer;
const HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

afterEach(() => vi.unstubAllGlobals());

describe("an upload", () => {
  it("names the content by its hash", async () => {
    expect(await hashOf(bytes("hello"))).toBe(HELLO);
    const asked = vi.fn(async () => new Response("{}", { status: 200 }));
    vi.stubGlobal("fetch", asked);
    expect(await sendContent("prj_1", bytes("hello"))).toBe(HELLO);
    expect(asked.mock.calls[0]).toMatchObject([
      `/api/projects/prj_1/artifacts/contents/${HELLO}`,
      { method: "PUT" },
    ]);
  });

  it("says why it failed", async () => {
    const problem = {
      kind: "invalid",
      status: 413,
      detail: "an artifact of this project has at most 64 MiB",
    };
    vi.stubGlobal("fetch", async () => new Response(JSON.stringify(problem), { status: 413 }));
    await expect(sendContent("prj_1", bytes("hello"))).rejects.toThrow("at most 64 MiB");
  });

  it("needs a browser that hashes", async () => {
    vi.stubGlobal("crypto", {});
    await expect(hashOf(bytes("hello"))).rejects.toThrow("only over HTTPS");
  });
});
