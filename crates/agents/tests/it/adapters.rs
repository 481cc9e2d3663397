//! Adapters as files: the built-in ones are valid, and an error in a person's own is reported with its place.

use std::path::Path;

use agents::{Adapter, AdapterError, Adapters, Mode};

fn fault(text: &str) -> AdapterError {
    Adapter::parse(Path::new("mine.toml"), text).expect_err("this adapter has a fault")
}

const GOOD: &str = "name = \"mine\"\nlabel = \"Mine\"\ncommand = [\"mine\"]\n";

#[test]
fn the_built_in_adapters_are_valid() {
    let adapters = Adapters::built_in();
    assert_eq!(adapters.errors(), []);
    let names: Vec<_> = adapters.iter().map(|adapter| adapter.name.to_string()).collect();
    assert_eq!(names, ["claude", "codex", "command", "gemini", "opencode", "shell"]);
    for agent in ["claude", "codex", "gemini", "opencode"] {
        let adapter = adapters.get(agent).unwrap();
        for mode in [Mode::Interactive, Mode::Headless] {
            assert!(adapter.supports(mode) && adapter.resumes(mode), "{agent} {mode:?}");
        }
        assert!(adapter.counts(Mode::Headless) && !adapter.takes_argv(Mode::Headless), "{agent}");
        assert_eq!(adapter.tells_cost(Mode::Headless), matches!(agent, "claude" | "opencode"), "{agent}");
    }
    for agent in ["command", "shell"] {
        let adapter = adapters.get(agent).unwrap();
        assert!(!adapter.counts(Mode::Interactive) && !adapter.counts(Mode::Headless), "{agent}");
        assert!(adapter.takes_argv(Mode::Interactive), "{agent}");
    }
}

#[test]
fn a_fault_names_file_line_key_and_what_is_allowed() {
    let error = fault(&format!("{GOOD}[headless]\nargs = [\"-p\"]\npromt = \"stdin\"\n"));
    let text = error.to_string();
    assert!(
        text.starts_with("mine.toml:6: `headless.promt`: unknown field `promt`, expected one of `args`, `prompt`"),
        "{text}"
    );

    let error = fault(&format!("{GOOD}[headless]\nprompt = \"argv\"\n"));
    assert_eq!((error.line, error.key.as_str()), (5, "headless.prompt"));
    assert!(error.message.contains("expected one of `none`, `stdin`, `paste`"), "{}", error.message);

    let error = fault(&format!("{GOOD}[headless]\nargs = [\n    \"run\",\n    [\"--model\", \"{{modell}}\"],\n]\n"));
    assert_eq!((error.line, error.key.as_str()), (7, "headless.args"));
    assert!(error.message.contains("unknown placeholder {modell}, expected one of argv, "), "{}", error.message);

    let error = fault(&format!("{GOOD}[headless]\n[[screen]]\nstate = \"idle\"\nmatch = '('\n"));
    assert_eq!((error.line, error.key.as_str()), (7, "screen.match"));
    assert!(error.message.contains("not a regular expression"), "{}", error.message);

    for key in ["said", "fault"] {
        let error = fault(&format!("{GOOD}[headless]\n[[event]]\nwhen = {{ kind = \"said\" }}\n{key} = \"text\"\n"));
        assert!(error.to_string().contains(key) && error.message.contains("write `{text}`"), "{error}");
    }
    let error = fault("name = \"Mine\"\n");
    assert_eq!((error.line, error.key.as_str()), (1, "name"));
    assert!(error.message.contains("lower-case letters"), "{}", error.message);

    let error = fault(&format!("{GOOD}[interactive]\nprompt = \"paste\"\n"));
    assert_eq!((error.line, error.key.as_str()), (4, "interactive"));
    assert!(error.message.contains("needs `ready` and `submit`"), "{}", error.message);

    let error = fault(&format!("{GOOD}[headless]\nargs = [\"{{file.settings}}\"]\n[json.other]\na = 1\n"));
    assert_eq!((error.line, error.key.as_str()), (5, "headless.args"));
    assert!(error.message.contains("needs [json.settings], expected one of other"), "{}", error.message);

    assert!(fault(GOOD).message.contains("[interactive] or [headless]"));
    assert_eq!(fault("name = \"a\"\nlabel = \n").line, 2);
}

#[test]
fn a_persons_adapter_is_added_and_a_faulty_one_takes_no_other_away() {
    let config = tempfile::tempdir().unwrap();
    let folder = config.path().join("agents");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("mine.toml"), format!("{GOOD}[headless]\nprompt = \"stdin\"\n")).unwrap();
    std::fs::write(folder.join("bad.toml"), "name = 3\n").unwrap();
    std::fs::write(folder.join("notes.txt"), "not an adapter").unwrap();
    let adapters = Adapters::load(config.path());
    assert!(
        adapters.get("mine").is_some_and(|mine| mine.supports(Mode::Headless) && !mine.supports(Mode::Interactive))
    );
    assert!(adapters.get("codex").is_some());
    let [error] = adapters.errors() else { panic!("one fault: {:?}", adapters.errors()) };
    assert_eq!((error.file.clone(), error.line), (folder.join("bad.toml"), 1));
}

#[test]
fn the_documentations_example_is_without_fault() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.md");
    let text = std::fs::read_to_string(docs).unwrap();
    let examples: Vec<_> = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let whole = examples.iter().filter(|example| example.contains("\nname = ") || example.starts_with("name = "));
    let parsed: Vec<_> = whole.map(|example| Adapter::parse(Path::new("docs/agents.md"), example).unwrap()).collect();
    assert!(!parsed.is_empty());
}
