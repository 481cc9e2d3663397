import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

/** A step of the scripted model: write a file or answer with a text. */
export type Turn = { write: string; text: string } | { say: string };

type Body = {
  model?: string;
  tools?: { name?: string; type?: string; function?: { name?: string } }[];
  text?: { format?: { type?: string } };
};

/** The reported usage of each answer. */
const USED = { input: 1_000, cached: 200, output: 30 };

/**
 * A model on loopback that plays a script: over the Responses API for the real Codex CLI, over Chat Completions for the
 * real opencode.
 */
export class Model {
  readonly #script: Turn[];
  #server: Server | null = null;
  #asked = 0;

  constructor(script: Turn[]) {
    this.#script = [...script];
  }

  /** Starts it and configures Codex and opencode on a hub's runner to use only this model. */
  async start(dir: string): Promise<void> {
    const server = createServer((request, response) => {
      let text = "";
      request.on("data", (chunk: Buffer) => (text += chunk.toString()));
      request.on("end", () => {
        const chats = request.url?.endsWith("/chat/completions");
        if (!chats && !request.url?.endsWith("/responses")) {
          response.writeHead(request.url?.endsWith("/models") ? 200 : 404, {
            "content-type": "application/json",
          });
          return response.end('{"object":"list","data":[],"models":[]}');
        }
        response.writeHead(200, { "content-type": "text/event-stream" });
        const body = JSON.parse(text) as Body;
        const [number, turn] = this.#next(body);
        for (const event of chats ? chat(number, body, turn) : responses(number, body, turn)) {
          const name = "type" in event ? `event: ${event.type}\n` : "";
          response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
        }
        response.end(chats ? "data: [DONE]\n\n" : "");
      });
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    this.#server = server;
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/v1`;
    const put = (folder: string, name: string, text: string) => {
      mkdirSync(join(dir, folder), { recursive: true });
      writeFileSync(join(dir, folder, name), text);
    };
    put("home/.codex", "config.toml", codexConfig(url));
    put("config/opencode", "opencode.json", opencodeConfig(url));
    // Keeps opencode's own package manager offline.
    put("home", ".npmrc", "offline=true\n");
  }

  /** Stops it. */
  stop(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }

  // Requests for titles come without tools or with a schema; they are not part of the script.
  #next(body: Body): [number, Turn] {
    const beside = (body.tools?.length ?? 0) === 0 || body.text?.format?.type === "json_schema";
    const turn: Turn = beside
      ? { say: '{"title":"Scripted"}' }
      : (this.#script.shift() ?? { say: "Nothing is left to do." });
    return [++this.#asked, turn];
  }
}

function responses(number: number, body: Body, turn: Turn): { type: string; [name: string]: unknown }[] {
  const item = "say" in turn ? message(number, turn.say) : call(number, body, turn);
  const response = { id: `resp_${number}`, object: "response", model: body.model };
  const usage = {
    input_tokens: USED.input,
    input_tokens_details: { cached_tokens: USED.cached },
    output_tokens: USED.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: USED.input + USED.output,
  };
  return [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { ...response, status: "completed", output: [item], usage } },
  ];
}

function chat(number: number, body: Body, turn: Turn): object[] {
  const chunk = (choices: object[], more = {}) => ({
    id: `chatcmpl-${number}`,
    object: "chat.completion.chunk",
    created: 1,
    model: body.model,
    choices,
    ...more,
  });
  const part = (delta: object, finish_reason: string | null = null) =>
    chunk([{ index: 0, delta, finish_reason }]);
  const usage = {
    prompt_tokens: USED.input,
    prompt_tokens_details: { cached_tokens: USED.cached },
    completion_tokens: USED.output,
    total_tokens: USED.input + USED.output,
  };
  const said = "say" in turn ? { content: turn.say } : { tool_calls: [write(number, body, turn)] };
  return [
    part({ role: "assistant", content: "" }),
    part(said),
    part({}, "say" in turn ? "stop" : "tool_calls"),
    chunk([], { usage }),
  ];
}

function write(number: number, body: Body, turn: { write: string; text: string }) {
  const names = (body.tools ?? []).map((tool) => tool.function?.name);
  if (!names.includes("write")) throw new Error(`no tool writes a file; there are ${names.join(", ")}`);
  const input = JSON.stringify({ filePath: turn.write, content: turn.text });
  return { index: 0, id: `call_${number}`, type: "function", function: { name: "write", arguments: input } };
}

function message(number: number, text: string) {
  const content = [{ type: "output_text", text, annotations: [] }];
  return { type: "message", id: `msg_${number}`, role: "assistant", status: "completed", content };
}

// Like a real model, use one of the given tools.
function call(number: number, body: Body, turn: { write: string; text: string }) {
  const lines = turn.text.split("\n").filter(Boolean);
  const patch = [
    `*** Begin Patch`,
    `*** Add File: ${turn.write}`,
    ...lines.map((line) => `+${line}`),
    `*** End Patch`,
  ];
  const text = `${patch.join("\n")}\n`;
  const base = { id: `item_${number}`, call_id: `call_${number}`, status: "completed" };
  const tool = body.tools?.find((one) => one.name === "apply_patch");
  if (tool?.type === "custom") return { ...base, type: "custom_tool_call", name: "apply_patch", input: text };
  const [name, input] = tool
    ? ["apply_patch", { input: text }]
    : ["exec_command", { cmd: `apply_patch <<'END_OF_PATCH'\n${text}END_OF_PATCH\n` }];
  return { ...base, type: "function_call", name, arguments: JSON.stringify(input) };
}

function codexConfig(url: string): string {
  const off = [
    "apps",
    "in_app_updates",
    "plugin_discovery_prefetch",
    "plugin_sharing",
    "plugins",
    "remote_plugin",
  ];
  return `model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "Scripted"
base_url = "${url}"
wire_api = "responses"
env_key = "OPENAI_API_KEY"

[analytics]
enabled = false

[feedback]
enabled = false

[tui]
animations = false
show_tooltips = false

[features]
${off.map((name) => `${name} = false`).join("\n")}
`;
}

function opencodeConfig(url: string): string {
  const limit = { context: 100_000, output: 10_000 };
  const provider = {
    npm: "@ai-sdk/openai-compatible",
    name: "Local",
    models: { scripted: { name: "Scripted", cost: { input: 2, output: 10 }, limit } },
    options: { baseURL: url, apiKey: "none" },
  };
  const config = {
    model: "local/scripted",
    provider: { local: provider },
    share: "disabled",
    autoupdate: false,
  };
  return JSON.stringify(config);
}
