//! Invariants that are absences: who may not depend on whom, what may not be in the tree.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, MetadataCommand};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every package with the packages that it needs to run; development dependencies do not count.
fn graph() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = MetadataCommand::new().current_dir(root()).other_options(vec!["--locked".into()]).exec().unwrap();
    let names: BTreeMap<_, _> =
        metadata.packages.iter().map(|package| (package.id.clone(), package.name.to_string())).collect();
    let resolve = metadata.resolve.unwrap();
    let needs = resolve.nodes.iter().map(|node| {
        let runs = |kind: &cargo_metadata::DepKindInfo| kind.kind == DependencyKind::Normal;
        let deps = node.deps.iter().filter(|dep| dep.dep_kinds.iter().any(runs));
        (names[&node.id].clone(), deps.map(|dep| names[&dep.pkg].clone()).collect())
    });
    needs.collect()
}

fn reached(graph: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![from.to_owned()];
    while let Some(name) = waiting.pop() {
        for next in graph.get(&name).into_iter().flatten() {
            if seen.insert(next.clone()) {
                waiting.push(next.clone());
            }
        }
    }
    assert!(graph.contains_key(from), "{from} is not in the workspace");
    seen
}

#[test]
fn the_hub_has_no_hands() {
    let reached = reached(&graph(), "hub");
    for hand in [
        "runner",
        "terminal",
        "worktree",
        "agents",
        "symbols",
        "tree-sitter",
        "portable-pty",
        "pty-process",
        "git2",
        "gix",
    ] {
        assert!(!reached.contains(hand), "hub must not depend on {hand}: it decides, runners do");
    }
}

#[test]
fn layers_point_one_way() {
    let graph = graph();
    let ours = [
        "acceptance",
        "domain",
        "engine",
        "plan",
        "protocol",
        "recipes",
        "store",
        "hub",
        "client",
        "mcp",
        "symbols",
        "terminal",
        "worktree",
        "agents",
        "runner",
        "shopfloor",
        "testkit",
    ];
    let allowed: &[(&str, &[&str])] = &[
        ("domain", &[]),
        ("engine", &["domain"]),
        ("protocol", &["domain"]),
        ("plan", &["domain", "engine", "protocol"]),
        ("recipes", &["domain", "engine", "plan", "protocol"]),
        ("store", &["domain", "engine", "plan", "protocol", "recipes"]),
        ("hub", &["domain", "engine", "mcp", "plan", "protocol", "recipes", "store"]),
        ("mcp", &["domain", "engine", "plan", "protocol"]),
        ("client", &["domain", "protocol"]),
        ("terminal", &["domain"]),
        ("symbols", &[]),
        ("worktree", &["domain", "symbols"]),
        ("agents", &["domain"]),
        ("acceptance", &["domain", "engine", "protocol", "symbols", "worktree"]),
        (
            "runner",
            &["acceptance", "domain", "engine", "protocol", "client", "symbols", "terminal", "worktree", "agents"],
        ),
    ];
    for (name, may) in allowed {
        for other in reached(&graph, name).iter().filter(|other| ours.contains(&other.as_str())) {
            assert!(may.contains(&other.as_str()), "{name} must not depend on {other}");
        }
    }
}

/// The text files of the tree that git would take.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let skipped =
        ["target", "node_modules", "dist", ".git", "protocol", "results", "test-results", ".svelte-kit", "shots"];
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        if path.is_dir() {
            // The page's folder of that name is generated; the crate is not.
            if path.ends_with("crates/protocol") || !skipped.contains(&name.as_str()) {
                sources(&path, found);
            }
        } else if ["rs", "ts", "svelte", "toml", "md", "sql", "css", "html"]
            .iter()
            .any(|end| name.ends_with(&format!(".{end}")))
        {
            found.push(path);
        }
    }
}

#[test]
fn hub_code_starts_no_process() {
    let mut files = Vec::new();
    sources(&root().join("crates/hub/src"), &mut files);
    assert!(files.len() > 20);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains("process::Command"), "{}: the hub runs no process", file.display());
    }
}

#[test]
fn nothing_of_one_machine_or_registry_is_in_the_tree() {
    let mut files = Vec::new();
    sources(&root(), &mut files);
    assert!(files.len() > 100, "only {} files were found", files.len());
    files.push(root().join("Cargo.lock"));
    files.push(root().join("web/package-lock.json"));
    let needles = [["/wo", "rk/"].concat(), ["/ro", "ot/"].concat(), ["registry.", "npmjs"].concat()];
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for needle in &needles {
            // What is part of a longer, relative path is no place on a machine.
            let relative = |before: &str| before.ends_with(|c: char| c.is_alphanumeric() || "._-".contains(c));
            let named = text.match_indices(needle.as_str()).any(|(at, _)| !relative(&text[..at]));
            assert!(!named, "{} names {needle}", file.display());
        }
    }
}

/// Others on a machine can read a command line: what we print and write down names a file.
#[test]
fn nobody_is_advised_to_put_a_token_on_a_command_line() {
    let mut files = Vec::new();
    for folder in ["crates", "web/src", "docs", "README.md"] {
        let place = root().join(folder);
        if place.is_dir() { sources(&place, &mut files) } else { files.push(place) }
    }
    let needles = ["T", "…", "TOKEN"].map(|value| format!("--{} {value}", "token"));
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let found = needles.iter().find(|needle| text.contains(needle.as_str()));
        assert!(found.is_none(), "{} advises {found:?}", file.display());
    }
}

#[test]
fn every_crate_says_what_it_is() {
    for entry in fs::read_dir(root().join("crates")).unwrap().map(Result::unwrap) {
        let manifest = fs::read_to_string(entry.path().join("Cargo.toml")).unwrap();
        assert!(manifest.contains("description = \""), "{} has no description", entry.path().display());
        assert!(manifest.contains("[lints]\nworkspace = true"), "{} has other lints", entry.path().display());
    }
}

/// A verb is declared once, and the rest follows: adding one stays a matter of few files.
#[test]
fn a_verb_is_added_in_few_files() {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    for (what, most) in [("a verb that reads", 6), ("a verb that changes something", 8)] {
        let (_, rest) = text.split_once(&format!("<!-- {what} -->\n")).unwrap();
        let (list, _) = rest.split_once("<!-- end -->").unwrap();
        let files: Vec<&str> = list.lines().map(|line| line.split('`').nth(1).unwrap()).collect();
        assert!((2..=most).contains(&files.len()), "{what} touches {} files", files.len());
        for file in files {
            assert!(root().join(file).is_file(), "CONTRIBUTING.md names {file}, which does not exist");
        }
    }
}

/// The functions, modules, files and folders of the Rust code.
fn rust_names() -> BTreeSet<String> {
    let mut files = Vec::new();
    ["crates", "xtask"].iter().for_each(|folder| sources(&root().join(folder), &mut files));
    files.retain(|file| file.extension().is_some_and(|end| end == "rs"));
    let mut names = BTreeSet::new();
    for file in files {
        names.extend(file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()));
        let text = fs::read_to_string(&file).unwrap();
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        names.extend(words.windows(2).filter(|pair| ["fn", "mod"].contains(&pair[0])).map(|pair| pair[1].to_owned()));
    }
    names
}

/// The paths in one piece of code: `a::{b, c}` is two; a type and what it owns is none.
fn named_paths(code: &str) -> Vec<String> {
    let (before, group) = match code.split_once("::{") {
        Some((before, rest)) => (before, rest.trim_end_matches('}')),
        None => ("", code),
    };
    let module = before.split(' ').next_back().unwrap();
    let words = group.split([' ', ',', '(', ')']).filter(|word| !word.is_empty());
    let paths = words.map(|word| if module.is_empty() { word.to_owned() } else { format!("{module}::{word}") });
    paths.filter(|path| path.contains("::") && !path.contains(char::is_uppercase)).collect()
}

/// A name without `*` or `…` is exact; with one it is the beginning of a name.
#[test]
fn tests_named_in_documents_exist() {
    let names = rust_names();
    let exists = |name: &str| match name.strip_suffix(['*', '…']) {
        Some(start) => names.iter().any(|one| one.starts_with(start)),
        None => names.contains(name),
    };
    let mut found = 0;
    for document in ["SECURITY.md", "docs/track-record.md"] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        for code in text.lines().flat_map(|line| line.split('`').skip(1).step_by(2)) {
            for path in named_paths(code) {
                let missing = path.split("::").find(|&name| !exists(name));
                assert!(missing.is_none(), "{document} names `{path}`: there is no {}", missing.unwrap_or_default());
                found += 1;
            }
            if let Some((_, arguments)) = code.split_once("nextest run ") {
                for filter in arguments.split(' ').filter(|word| word.contains('_') && !word.contains("::")) {
                    let known = names.iter().any(|name| name.contains(filter));
                    assert!(known, "{document} runs `{filter}`: no test has it in its name");
                }
            }
        }
    }
    assert!(found > 100, "only {found} names were found");
}
