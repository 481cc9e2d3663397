import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

/** What the scripted model does when it is asked: it writes a file, or says something. */
export type Turn = { write: string; text: string } | { say: string };

type Body = {
  model?: string;
  tools?: { name?: string; type?: string }[];
  text?: { format?: { type?: string } };
};

/** A model on loopback that plays a script over the Responses API, for the real Codex CLI. */
export class Model {
  readonly #script: Turn[];
  #server: Server | null = null;
  #asked = 0;

  constructor(script: Turn[]) {
    this.#script = [...script];
  }

  /** Starts it, and makes the Codex of a home know this model only. */
  async start(home: string): Promise<void> {
    const server = createServer((request, response) => {
      let text = "";
      request.on("data", (chunk: Buffer) => (text += chunk.toString()));
      request.on("end", () => {
        if (!request.url?.endsWith("/responses")) {
          response.writeHead(request.url?.endsWith("/models") ? 200 : 404, {
            "content-type": "application/json",
          });
          return response.end('{"object":"list","data":[],"models":[]}');
        }
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (const event of this.#answer(JSON.parse(text) as Body)) {
          response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
        }
        response.end();
      });
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    this.#server = server;
    const { port } = server.address() as AddressInfo;
    mkdirSync(join(home, ".codex"), { recursive: true });
    writeFileSync(join(home, ".codex", "config.toml"), config(`http://127.0.0.1:${port}/v1`));
  }

  /** Ends it. */
  stop(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }

  #answer(body: Body): { type: string; [name: string]: unknown }[] {
    const number = ++this.#asked;
    // Titles are asked for without tools or in a form; they are not what a script is about.
    const beside = (body.tools?.length ?? 0) === 0 || body.text?.format?.type === "json_schema";
    const turn: Turn = beside
      ? { say: '{"title":"Scripted"}' }
      : (this.#script.shift() ?? { say: "Nothing is left to do." });
    const item = "say" in turn ? message(number, turn.say) : call(number, body, turn);
    const response = { id: `resp_${number}`, object: "response", model: body.model };
    const usage = {
      input_tokens: 1_000,
      input_tokens_details: { cached_tokens: 200 },
      output_tokens: 30,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 1_030,
    };
    return [
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { ...response, status: "completed", output: [item], usage } },
    ];
  }
}

function message(number: number, text: string) {
  const content = [{ type: "output_text", text, annotations: [] }];
  return { type: "message", id: `msg_${number}`, role: "assistant", status: "completed", content };
}

// A real model also takes the tools that it is given.
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

function config(url: string): string {
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
