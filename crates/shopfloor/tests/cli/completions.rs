//! Completion in a real shell.

use std::path::Path;

use crate::fixture::Fixture;

/// What bash offers for a line, which ends where the person presses Tab.
fn offered(fixture: &Fixture, words: &[&str]) -> Vec<String> {
    let command = fixture.command();
    let program = Path::new(command.get_program());
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let script = format!(
        "PATH=\"{}:$PATH\"; source <(shopfloor completions bash); COMP_WORDS=(shopfloor {}); COMP_CWORD={}; COMP_TYPE=9; \
         _clap_complete_shopfloor shopfloor '{}' '' ; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        program.parent().unwrap().display(),
        quoted.join(" "),
        words.len(),
        words.last().unwrap(),
    );
    let mut bash = std::process::Command::new("bash");
    bash.args(["--noprofile", "--norc", "-c", &script]);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => bash.env(name, value),
            None => bash.env_remove(name),
        };
    }
    let ended = bash.output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap().lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn bash_completes_commands_and_short_names_of_tasks() {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Calc"]);
    for title in ["Add sub", "Add mul"] {
        fixture.text(&["task", "add", "--project", "Calc", title]);
    }
    let commands = offered(&fixture, &["task", "re"]);
    assert!(commands.contains(&"reopen".to_owned()) && commands.contains(&"retry".to_owned()), "{commands:?}");
    for words in [&["task", "show", "calc"][..], &["task", "cancel", "CALC-1", "CALC"], &["land", "c"]] {
        assert_eq!(offered(&fixture, words), ["CALC-2", "CALC-1"], "{words:?}");
    }
    assert_eq!(offered(&fixture, &["task", "edit", "CALC-2"]), ["CALC-2"]);
    // Without a hub there is nothing to offer, and no error in the person's line.
    let alone = Fixture::empty();
    assert_eq!(offered(&alone, &["task", "show", "c"]), [""]);
}
