//! The page's types are the protocol's: regenerated, compared with the committed ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use protocol::{Call, FromHub, Health, InviteAccept, LinkSecret, ToHub};
use ts_rs::{Config, TS};

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src/protocol")
}

fn generate(folder: &Path) {
    let config = Config::new().with_out_dir(folder);
    ToHub::export_all(&config).expect("the types can be written and read");
    FromHub::export_all(&config).expect("the types can be written and read");
    LinkSecret::export_all(&config).expect("the types can be written and read");
    InviteAccept::export_all(&config).expect("the types can be written and read");
    Health::export_all(&config).expect("the types can be written and read");
    let names: Vec<String> = read(folder).into_keys().collect();
    let index: String = names
        .iter()
        .map(|name| name.trim_end_matches(".ts"))
        .map(|name| format!("export type {{ {name} }} from \"./{name}\";\n"))
        .collect();
    fs::write(folder.join("index.ts"), index).expect("the types can be written and read");
    fs::write(folder.join("verbs.ts"), verbs()).expect("the types can be written and read");
}

/// The kind of answer of each verb.
fn verbs() -> String {
    let line = |spec: &&protocol::Spec| format!("  \"{}\": \"{}\",\n", spec.name, spec.answer_kind());
    let lines: String = Call::SPECS.iter().map(line).collect();
    format!("/** The kind of answer of each verb. */\nexport const ANSWER_KIND = {{\n{lines}}} as const;\n")
}

fn read(folder: &Path) -> BTreeMap<String, String> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeMap::new() };
    entries
        .map(|entry| entry.expect("the types can be written and read"))
        .map(|entry| {
            (
                entry.file_name().into_string().expect("the types can be written and read"),
                fs::read_to_string(entry.path()).expect("the types can be written and read"),
            )
        })
        .collect()
}

#[test]
fn the_pages_types_are_fresh() {
    let fresh = tempfile::tempdir().expect("the types can be written and read");
    generate(fresh.path());
    if std::env::var_os("UPDATE_TYPES").is_some() {
        let _ = fs::remove_dir_all(committed());
        fs::create_dir_all(committed()).expect("the types can be written and read");
        generate(&committed());
    }
    let (new, old) = (read(fresh.path()), read(&committed()));
    let stale: Vec<&String> = new.keys().chain(old.keys()).filter(|name| new.get(*name) != old.get(*name)).collect();
    assert!(stale.is_empty(), "web/src/protocol is out of date in {stale:?}: run `make protocol` and commit");
}
