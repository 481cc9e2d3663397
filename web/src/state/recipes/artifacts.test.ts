import { describe, expect, it } from "vitest";
import { contentPath, previewOf } from "./artifacts";

const of = (media_type: string, size = 1_000) => previewOf({ media_type, size });

describe("previews of artifacts", () => {
  it("shows pictures of pixels, Markdown and plain texts", () => {
    expect(of("image/png")).toBe("image");
    expect(of("text/markdown")).toBe("markdown");
    expect(of("application/json")).toBe("text");
  });

  it("shows nothing that could run", () => {
    for (const type of [
      "image/svg+xml",
      "text/html",
      "application/xhtml+xml",
      "text/xml",
      "text/javascript",
      "application/pdf",
      "application/octet-stream",
      "IMAGE/PNG",
      "image/png; x=1",
      "",
    ])
      expect(of(type), type).toBeNull();
  });

  it("loads nothing large", () => {
    expect(of("image/png", 10_000_001)).toBeNull();
    expect(of("text/plain", 300_001)).toBeNull();
  });

  it("names the content", () => {
    expect(contentPath({ id: "art_1" })).toBe("/api/artifacts/art_1/content");
  });
});
