//! docs/protocol.md is in step with the types.

use protocol::verbs::{Field, Schemas};
use protocol::{Answer, Call, Change, CloseCode, FromHub, MAX_FRAME, PROTOCOL, ProblemKind, ToHub};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use ts_rs::{Config, TS};
use utoipa::openapi::{RefOr, Schema};

const DOCUMENT: &str = include_str!("../../../docs/protocol.md");

/// Every tag of an enum, as its decoder names them when none of them is given.
fn tags<T: DeserializeOwned>(tagged: impl Fn(&str) -> Value) -> Vec<String> {
    let error = serde_json::from_value::<T>(tagged("?")).err().expect("`?` is no tag").to_string();
    let (_, names) = error.split_once("expected").unwrap_or_else(|| panic!("{error}"));
    let names: Vec<String> = names.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert!(names.len() > 2, "{error}");
    names
}

/// Every kind of change: their decoder takes any name, so they are read from the page's type.
fn kinds() -> Vec<String> {
    let union = Change::inline(&Config::new());
    let kinds: Vec<String> =
        union.split("\"kind\": \"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect();
    assert!(kinds.len() > 2, "{union}");
    kinds
}

fn check_named(what: &str, names: impl IntoIterator<Item = impl AsRef<str>>) {
    for name in names {
        let name = name.as_ref();
        assert!(DOCUMENT.contains(&format!("`{name}`")), "docs/protocol.md does not mention the {what} `{name}`");
    }
}

/// The first cells of the table that begins with this line.
fn rows(head: &str) -> Vec<&'static str> {
    let mut tables = DOCUMENT.split(head).skip(1);
    let table = tables.next().unwrap_or_else(|| panic!("docs/protocol.md has no table {head}"));
    assert!(tables.next().is_none(), "docs/protocol.md has several tables {head}");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.split('`').nth(1).unwrap_or_else(|| panic!("no name in {row}"))).collect()
}

/// The fields of an input, as a reader wants them: `{content, status?}`.
fn shape(field: &Field) -> String {
    let RefOr::T(Schema::Object(object)) = field.schema(&mut Schemas::new()) else {
        return format!("`{}`", field.name);
    };
    if object.properties.is_empty() {
        return format!("`{}`", field.name);
    }
    let names = object.properties.keys().map(|name| match object.required.contains(name) {
        true => name.clone(),
        false => format!("{name}?"),
    });
    format!("`{}: {{{}}}`", field.name, names.collect::<Vec<_>>().join(", "))
}

/// The table of verbs, derived from their declarations.
fn table() -> String {
    let mut table = String::from("| Verb | HTTP | Takes | Answers | Who | |\n| --- | --- | --- | --- | --- | --- |\n");
    for spec in Call::SPECS {
        let takes = spec.fields.iter().map(shape).collect::<Vec<_>>().join(", ");
        table += &format!(
            "| `{}` | `{} {}` | {takes} | {} `{}` | {:?} | {} |\n",
            spec.name,
            spec.method,
            spec.path,
            spec.status,
            spec.answer_kind(),
            spec.access,
            spec.about.trim()
        );
    }
    table
}

#[test]
fn the_table_of_verbs_is_fresh() {
    const MARKS: (&str, &str) = ("<!-- verbs: written by `make protocol` -->\n", "<!-- end of verbs -->\n");
    let (before, rest) = DOCUMENT.split_once(MARKS.0).expect("the document has a place for the table");
    let (written, after) = rest.split_once(MARKS.1).expect("the table ends");
    if std::env::var_os("UPDATE_TYPES").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol.md");
        std::fs::write(path, format!("{before}{}{}{}{after}", MARKS.0, table(), MARKS.1)).expect("it can be written");
    } else {
        assert!(written == table(), "the verbs in docs/protocol.md are out of date: run `make protocol` and commit");
    }
}

#[test]
fn every_verb_frame_change_answer_and_problem_is_described() {
    check_named("verb", Call::VERBS);
    check_named("answer", tags::<Answer>(|tag| json!({"kind": tag, "value": null})));
    let (mut written, mut kinds) = (rows("| `kind` | What to do |"), kinds());
    written.sort_unstable();
    kinds.sort_unstable();
    assert_eq!(written, kinds, "the table of changes in docs/protocol.md");
    check_named("problem", tags::<ProblemKind>(|tag| json!(tag)));
    for frame in tags::<ToHub>(|tag| json!({"type": tag})).iter().chain(&tags::<FromHub>(|tag| json!({"type": tag}))) {
        assert!(DOCUMENT.contains(&format!("\"type\": \"{frame}\"")), "docs/protocol.md has no example of `{frame}`");
    }
}

#[test]
fn every_close_code_and_status_is_the_real_one() {
    use CloseCode::*;
    for code in [GoingAway, Protocol, TooLarge, TooSlow, Unauthenticated, Taken, RateLimited] {
        // A new code does not compile here until it is in the list above.
        match code {
            GoingAway | Protocol | TooLarge | TooSlow | Unauthenticated | Taken | RateLimited => {}
        }
        assert!(DOCUMENT.contains(&format!("| {} | `{code:?}` |", code.code())), "{code:?}");
    }
    for kind in tags::<ProblemKind>(|tag| json!(tag)) {
        let status = serde_json::from_value::<ProblemKind>(json!(kind)).expect("a kind").status();
        assert!(DOCUMENT.contains(&format!("| `{kind}` | {status} |")), "{kind}");
    }
}

#[test]
fn a_kind_that_is_not_known_is_passed_over_and_never_sent() {
    let told = json!({"type": "delta", "seq": 7, "at": "2026-11-15T21:26:02.113Z",
        "change": {"kind": "weather", "weather": {"rain": [1, 2]}, "since": null}});
    let FromHub::Delta(delta) = serde_json::from_value(told).expect("later kinds of change are read") else {
        panic!("a delta is a delta")
    };
    assert_eq!((delta.seq.0, &delta.change), (7, &Change::Unknown));
    assert!(serde_json::to_string(&delta).is_err(), "an unknown change is never sent");
    assert!(!kinds().iter().any(|kind| kind == "unknown"), "the page has no such kind");
}

#[test]
fn every_example_is_a_frame() {
    let mut examples = 0;
    for block in DOCUMENT.split("```json\n").skip(1) {
        let (text, _) = block.split_once("```").expect("a block ends");
        let to_hub = serde_json::from_str::<ToHub>(text).map(|frame| json!(frame));
        let from_hub = serde_json::from_str::<FromHub>(text).map(|frame| json!(frame));
        let read = to_hub.or(from_hub).unwrap_or_else(|error| panic!("{error} in\n{text}"));
        // Nothing in an example is ignored, and nothing that the hub would send is left out.
        assert_eq!(read, serde_json::from_str::<Value>(text).expect("JSON"), "{text}");
        examples += 1;
    }
    assert!(examples >= 10, "{examples} examples");
}

#[test]
fn the_numbers_are_the_real_ones() {
    assert!(DOCUMENT.contains(&format!("version {PROTOCOL}.")));
    assert_eq!(MAX_FRAME, 1024 * 1024);
    assert_eq!(domain::text::PROJECT_CONTENT.limit, 64 * 1024);
    assert_eq!(domain::text::ACTIVITY_CONTENT.limit, 64 * 1024);
    assert_eq!(domain::text::MESSAGE_CONTENT.limit, 16 * 1024);
    assert_eq!(domain::text::NAME.limit, 80);
    assert_eq!(domain::text::IDEMPOTENCY_KEY.limit, 128);
}
