//! The groups of commands in `shopfloor --help`: clap has headings for options only.

use std::fmt::Write as _;

use clap::Command;

/// Every command, in the group and the order in which `shopfloor --help` lists it.
const GROUPS: &[(&str, &[&str])] = &[
    ("Start here", &["up", "down", "status", "login", "demo", "project", "search", "doctor"]),
    (
        "Work",
        &[
            "activity",
            "task",
            "worker",
            "work",
            "review",
            "escalation",
            "approval",
            "land",
            "landing",
            "overlap",
            "merge",
            "recipe",
            "execution",
            "artifact",
            "schedule",
            "hook",
            "profile",
            "metrics",
            "instructions",
            "files",
            "mcp",
        ],
    ),
    ("Sessions", &["session", "attach", "handoff", "recording", "workspace", "runner", "stop-everything", "thaw"]),
    ("People", &["chat", "notify", "user", "invite", "observer", "presence", "watch"]),
    ("Operate", &["serve", "token", "audit", "db", "config", "upgrade", "completions", "man", "openapi"]),
];

/// The heading for a command that nobody has put into a group; a test keeps it empty.
const REST: &str = "Other commands";

/// The command line with its commands listed by group.
pub(super) fn grouped(command: Command) -> Command {
    let text = listed(&command);
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}{}\n{{options}}{{after-help}}",
        heading(&command, "Global options")
    );
    command.help_template(template)
}

fn listed(command: &Command) -> String {
    let shown: Vec<&Command> = command.get_subcommands().filter(|one| !one.is_hide_set()).collect();
    let width = shown.iter().map(|one| one.get_name().len()).max().unwrap_or(0);
    let grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let rest: Vec<&str> = shown.iter().map(|one| one.get_name()).filter(|name| !grouped(name)).collect();
    let mut text = String::new();
    for (title, names) in GROUPS.iter().copied().chain([(REST, rest.as_slice())]) {
        let found = names.iter().filter_map(|name| shown.iter().find(|one| one.get_name() == *name));
        let lines: Vec<String> = found.map(|one| line(command, one, width)).collect();
        if !lines.is_empty() {
            let _ = writeln!(text, "{}\n{}", heading(command, title), lines.concat());
        }
    }
    text
}

fn heading(command: &Command, title: &str) -> String {
    let style = command.get_styles().get_header();
    format!("{style}{title}:{style:#}")
}

fn line(command: &Command, one: &Command, width: usize) -> String {
    let style = command.get_styles().get_literal();
    let about = one.get_about().map(ToString::to_string).unwrap_or_default();
    format!("  {style}{:<width$}{style:#}  {about}\n", one.get_name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::help::command;

    #[test]
    fn every_command_is_in_exactly_one_group() {
        let command = command();
        let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        for name in &names {
            let count = GROUPS.iter().flat_map(|(_, names)| *names).filter(|one| *one == name).count();
            assert_eq!(count, 1, "`{name}` is in {count} groups: name it once in GROUPS of help/groups.rs");
        }
    }

    #[test]
    fn the_help_lists_each_command_below_its_heading() {
        let text = command().render_help().to_string();
        let mut from = 0;
        for (title, names) in GROUPS {
            let heading = format!("\n{title}:\n");
            from = text[from..].find(&heading).map(|at| from + at + heading.len()).unwrap_or_else(|| panic!("{text}"));
            let group = text[from..].split("\n\n").next().unwrap_or_default();
            let listed: Vec<&str> = group.lines().filter_map(|line| line.split_whitespace().next()).collect();
            let known: Vec<&str> =
                names.iter().copied().filter(|name| command().find_subcommand(name).is_some()).collect();
            assert_eq!(listed, known, "{title}");
        }
        assert!(!text.contains(REST) && text.contains("--data-dir") && text.contains("Exit codes:"), "{text}");
    }

    #[test]
    fn a_command_and_its_purpose_fit_on_a_line() {
        for line in listed(
            &Command::new("plain")
                .styles(clap::builder::Styles::plain())
                .subcommands(command().get_subcommands().cloned()),
        )
        .lines()
        {
            assert!(line.chars().count() <= 100, "{} characters, at most 100 fit: {line}", line.chars().count());
        }
    }
}
