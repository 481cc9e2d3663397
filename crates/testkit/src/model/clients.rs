//! Settings that make the real CLIs use only this model, offline.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::Model;

/// Short enough to be remembered whole: Claude Code keeps the last 20 characters of a key that was approved.
const CLAUDE_KEY: &str = "sk-ant-none";

impl Model {
    /// Codex's `config.toml`. Its key is the variable `OPENAI_API_KEY`; any value will do.
    pub fn codex_config(&self) -> String {
        format!(
            r#"model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "Scripted"
base_url = "{url}"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 1
stream_max_retries = 2

[analytics]
enabled = false

[feedback]
enabled = false

[tui]
animations = false
show_tooltips = false

[features]
apps = false
in_app_updates = false
plugin_discovery_prefetch = false
plugin_sharing = false
plugins = false
remote_plugin = false
"#,
            url = self.url()
        )
    }

    /// opencode's `opencode.json`. Costs are two dollars a million tokens in, ten out.
    pub fn opencode_config(&self) -> String {
        let limit = json!({ "context": 100_000, "output": 10_000 });
        let model = json!({ "name": "Scripted", "cost": { "input": 2, "output": 10 }, "limit": limit });
        let provider = json!({
            "npm": "@ai-sdk/openai-compatible", "name": "Local", "models": { "scripted": model },
            "options": { "baseURL": self.url(), "apiKey": "none" },
        });
        let config = json!({
            "model": "local/scripted", "provider": { "local": provider }, "share": "disabled", "autoupdate": false,
        });
        config.to_string()
    }

    /// Claude Code's `.claude.json`: of somebody who has used it before, and uses the key in `ANTHROPIC_API_KEY`.
    pub fn claude_config(&self) -> String {
        let keys = json!({ "approved": [CLAUDE_KEY], "rejected": [] });
        json!({ "hasCompletedOnboarding": true, "customApiKeyResponses": keys }).to_string()
    }

    /// Gemini CLI's `settings.json`, for the key in `GEMINI_API_KEY`.
    pub fn gemini_config(&self) -> String {
        let config = json!({
            "security": { "auth": { "selectedType": "gemini-api-key" } },
            "privacy": { "usageStatisticsEnabled": false },
            "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
        });
        config.to_string()
    }

    /// Writes all of them into a home, with what keeps opencode's own package manager offline.
    pub fn write_home(&self, home: &Path) {
        let files = [
            (".codex/config.toml", self.codex_config()),
            (".config/opencode/opencode.json", self.opencode_config()),
            (".claude.json", self.claude_config()),
            (".gemini/settings.json", self.gemini_config()),
            (".npmrc", "offline=true\n".to_owned()),
        ];
        for (path, text) in files {
            let file = home.join(path);
            std::fs::create_dir_all(file.parent().expect("a file is in a folder")).expect("a folder can be made");
            std::fs::write(file, text).expect("a file can be written");
        }
    }

    /// Variables that such a CLI needs beside `HOME` and `PATH`.
    pub fn variables() -> [(&'static str, &'static str); 8] {
        [
            ("ANTHROPIC_API_KEY", CLAUDE_KEY),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL", "1"),
            ("GEMINI_API_KEY", "none"),
            ("OPENAI_API_KEY", "sk-none"),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_SHARE", "1"),
        ]
    }

    /// Variables that say where this model is, for the CLIs that have no file for that.
    pub fn addresses(&self) -> [(&'static str, String); 2] {
        ["ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"].map(|name| (name, self.root()))
    }
}

/// Where `scripts/tools` has put the real CLIs: a folder for `PATH`.
pub fn cli_folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/agents/bin");
    assert!(folder.join("codex").exists(), "the agent CLIs under test are missing: run scripts/tools");
    folder.canonicalize().expect("a folder that exists has a path")
}

/// Where `scripts/tools claude` has put Claude Code, which only those have who asked for it.
pub fn claude_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/claude/bin")
}
