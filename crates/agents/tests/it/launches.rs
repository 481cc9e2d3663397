//! What is started: arguments without prompts, variables without strangers, files for what is secret.

use std::collections::BTreeMap;
use std::path::Path;

use agents::{Adapters, Autonomy, Launch, LaunchError, McpServer, Mode, Prompt, Request, environment, launch};

const PROMPT: &str = "--dangerous; $(touch canary) `id`\n'quoted'";

fn request(mode: Mode) -> Request {
    let mut request = Request::new(mode, Path::new("/w/tree"), Path::new("/s/ses_1"), Path::new("/bin/shopfloor"));
    request.prompt = Some(PROMPT.to_owned());
    request.system = Some("You are careful.".to_owned());
    request.mcp = vec![McpServer {
        name: "shopfloor".to_owned(),
        command: "/bin/shopfloor".to_owned(),
        args: vec!["mcp".to_owned()],
        env: vec![("SHOPFLOOR_TOKEN".to_owned(), "sft_secret".to_owned())],
        passed: vec!["SHOPFLOOR_TASK".to_owned()],
    }];
    request
}

fn started(agent: &str, request: &Request) -> Launch {
    let adapters = Adapters::built_in();
    launch(adapters.get(agent).expect("it comes with us"), request).expect("it can be started")
}

fn file<'a>(launch: &'a Launch, name: &str) -> &'a str {
    let file = launch.files.iter().find(|file| file.name == name);
    &file.unwrap_or_else(|| panic!("there is no {name} in {:?}", launch.files)).text
}

#[test]
fn neither_prompt_nor_secret_is_in_any_arguments() {
    for agent in ["claude", "codex", "gemini", "opencode"] {
        for mode in [Mode::Interactive, Mode::Headless] {
            let launch = started(agent, &request(mode));
            let argv = launch.argv.join("\n");
            assert!(!argv.contains("canary") && !argv.contains("sft_secret"), "{agent} {mode:?}: {argv}");
            assert!(file(&launch, "prompt.txt").ends_with(PROMPT), "{agent} {mode:?}");
            let elsewhere = launch.env.iter().map(|(_, value)| value).chain(launch.files.iter().map(|file| &file.text));
            let told = elsewhere.filter(|text| text.contains("sft_secret")).count();
            assert_eq!(told, 1, "{agent} {mode:?}: the MCP server's variable gets there one way");
            let texts = launch.files.iter().map(|file| &file.text);
            assert!(texts.into_iter().any(|text| text.contains("You are careful.")), "{agent} {mode:?}");
        }
    }
}

#[test]
fn structured_lines_run_in_the_wrapper() {
    let launch = started("codex", &request(Mode::Headless));
    let start =
        ["/bin/shopfloor", "session-lines", "--session-dir", "/s/ses_1", "--adapter", "codex", "--stdin", "prompt.txt"];
    assert_eq!(launch.argv[..8], start);
    assert_eq!(launch.argv[8..11], ["--", "codex", "exec"]);
    assert!(launch.events && matches!(launch.prompt, Prompt::None));
    assert!(file(&launch, "adapter.toml").contains("name = \"codex\""));
}

#[test]
fn a_command_is_run_as_it_is() {
    let mut request = request(Mode::Headless);
    request.argv = vec!["make".to_owned(), "-j; rm -rf /".to_owned()];
    let started = started("command", &request);
    assert_eq!(started.argv, request.argv);
    assert!(matches!(&started.prompt, Prompt::Stdin(file) if file == Path::new("/s/ses_1/prompt.txt")));
    request.argv.clear();
    let error = launch(Adapters::built_in().get("command").unwrap(), &request).unwrap_err();
    assert_eq!(error.to_string(), "Command needs a command to run");
}

#[test]
fn a_shell_is_the_persons_own_unless_another_is_named() {
    let mut request = request(Mode::Interactive);
    request.shell = "/bin/zsh".to_owned();
    assert_eq!(started("shell", &request).argv, ["/bin/zsh"]);
    request.argv = vec!["bash".to_owned(), "--norc".to_owned()];
    assert_eq!(started("shell", &request).argv, request.argv);
}

#[test]
fn values_that_look_like_options_are_refused() {
    let adapters = Adapters::built_in();
    for hostile in ["--upload-pack=id", "-c", "$(id)", "a;id", "a b", "", "a\nb"] {
        for field in ["model", "conversation"] {
            let mut request = request(Mode::Headless);
            let value = Some(hostile.to_owned());
            if field == "model" {
                request.model = value
            } else {
                request.conversation = value
            }
            let error = launch(adapters.get("codex").unwrap(), &request).unwrap_err();
            assert!(matches!(error, LaunchError::Refused(_)), "{field} {hostile:?}");
        }
    }
    let mut request = request(Mode::Interactive);
    request.mcp[0].name = "a.b=c".to_owned();
    assert!(launch(adapters.get("codex").unwrap(), &request).is_err());
}

#[test]
fn a_conversation_is_resumed_the_agents_own_way() {
    let check = |agent, mode, expected: &[&str]| {
        let mut request = request(mode);
        request.conversation = Some("id-1".to_owned());
        let argv = started(agent, &request).argv;
        assert!(argv.windows(expected.len()).any(|part| part == expected), "{agent} {mode:?}: {argv:?}");
    };
    check("claude", Mode::Interactive, &["--resume", "id-1"]);
    check("claude", Mode::Headless, &["--resume", "id-1"]);
    check("codex", Mode::Interactive, &["codex", "resume", "id-1"]);
    check("codex", Mode::Headless, &["resume", "id-1"]);
    check("gemini", Mode::Interactive, &["--resume", "id-1"]);
    check("gemini", Mode::Headless, &["--resume", "id-1"]);
    check("opencode", Mode::Interactive, &["--session", "id-1"]);
    check("opencode", Mode::Headless, &["--session", "id-1"]);
}

#[test]
fn autonomy_is_passed_on_and_full_only_when_asked_for() {
    for agent in ["claude", "codex", "gemini"] {
        let argv = |autonomy| {
            let mut request = request(Mode::Interactive);
            request.autonomy = autonomy;
            started(agent, &request).argv.join(" ")
        };
        let full = argv(Autonomy::Full);
        assert!(full.contains("dangerously") || full.contains("bypass") || full.contains("yolo"), "{agent}: {full}");
        for less in [argv(Autonomy::Ask), argv(Autonomy::Edit)] {
            assert!(
                !less.contains("dangerously") && !less.contains("bypass") && !less.contains("yolo"),
                "{agent}: {less}"
            );
        }
    }
}

#[test]
fn an_agent_gets_only_the_listed_variables() {
    let person: BTreeMap<String, String> = [
        ("PATH", "/bin"),
        ("HOME", "/h"),
        ("LC_ALL", "C"),
        ("XDG_CONFIG_HOME", "/c"),
        ("TERM", "dumb"),
        ("OPENAI_API_KEY", "o"),
        ("ANTHROPIC_API_KEY", "a"),
        ("GEMINI_API_KEY", "g"),
        ("CODEX_HOME", "/x"),
        ("GITHUB_TOKEN", "t"),
        ("AWS_SECRET_ACCESS_KEY", "s"),
        ("LD_PRELOAD", "/evil.so"),
        ("SHOPFLOOR_TOKEN", "p"),
        ("DATABASE_URL", "d"),
        ("NODE_OPTIONS", "--require=/evil.js"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    let adapters = Adapters::built_in();
    let names = |agent: &str| {
        let env = environment(adapters.get(agent).unwrap(), &person);
        assert!(env.contains(&("TERM".to_owned(), "xterm-256color".to_owned())));
        env.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    let common = ["COLORTERM", "HOME", "LC_ALL", "PATH", "TERM", "XDG_CONFIG_HOME"];
    assert_eq!(names("shell"), common);
    assert_eq!(names("command"), common);
    let more =
        |agent: &str| names(agent).into_iter().filter(|name| !common.contains(&name.as_str())).collect::<Vec<_>>();
    assert_eq!(more("codex"), ["CODEX_HOME", "OPENAI_API_KEY"]);
    assert_eq!(more("gemini"), ["GEMINI_API_KEY"]);
    assert!(!more("claude").iter().any(|name| name.starts_with("OPENAI") || name.starts_with("GEMINI")));
}

#[test]
fn variables_that_an_agent_has_already_are_named_and_not_written_down() {
    for (agent, named) in [
        ("claude", r#""SHOPFLOOR_TASK": "${SHOPFLOOR_TASK}""#),
        ("codex", r#""SHOPFLOOR_TASK""#),
        ("gemini", r#""SHOPFLOOR_TASK": "${SHOPFLOOR_TASK}""#),
    ] {
        let launch = started(agent, &request(Mode::Headless));
        let texts = launch.argv.iter().chain(launch.files.iter().map(|file| &file.text));
        assert!(texts.into_iter().any(|text| text.contains(named)), "{agent}: {launch:?}");
    }
    // What our own server offers is not asked for each time.
    let claude = started("claude", &request(Mode::Headless)).argv.join(" ");
    assert!(claude.contains("--allowedTools mcp__shopfloor --mcp-config"), "{claude}");
    let codex = started("codex", &request(Mode::Headless)).argv.join(" ");
    assert!(codex.contains("default_tools_approval_mode = \"approve\""), "{codex}");
}
