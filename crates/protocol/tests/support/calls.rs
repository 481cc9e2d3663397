//! One call of each verb, made from what its type says it needs.

use protocol::Call;
use serde_json::{Value, json};

/// One call of each verb, about things that do not exist.
pub(crate) fn one_of_each() -> Vec<Call> {
    Call::VERBS.iter().map(|verb| smallest(verb)).collect()
}

/// Adds what the decoder says is missing until it is content.
fn smallest(verb: &str) -> Call {
    let mut call = json!({ "verb": verb });
    for _ in 0..10 {
        let missing = match serde_json::from_value::<Call>(call.clone()) {
            Ok(call) => return call,
            Err(error) => error.to_string(),
        };
        let field = missing.split('`').nth(1).unwrap_or_else(|| panic!("{verb}: {missing}")).to_owned();
        let holders = ["input", "range", "page", "filter", "query"];
        let holder = holders.into_iter().find(|name| call.get(name).is_some());
        let place = match holder {
            Some(name) if !holders.contains(&field.as_str()) => &mut call[name],
            _ => &mut call,
        };
        place[&field] = value(&field);
    }
    panic!("{verb} cannot be made: {call}")
}

fn value(field: &str) -> Value {
    let id = |prefix: &str| json!(format!("{prefix}_01a1e119f7ce75098aed4a97f220a95d"));
    match field {
        "user" => id("usr"),
        "project" => id("prj"),
        "activity" => id("act"),
        "message" => id("msg"),
        "token" => id("tok"),
        "login" => id("lgn"),
        "invite" => id("inv"),
        "observer" => id("obs"),
        "runner" => id("run"),
        "session" => id("ses"),
        "workspace" => id("wsp"),
        "task" => id("tsk"),
        "worker" => id("wrk"),
        "escalation" => id("esc"),
        "approval" => id("apr"),
        "grant" => id("gnt"),
        "answer" => json!("once"),
        "tasks" => json!([]),
        "input" | "range" | "page" | "filter" | "query" => json!({}),
        "number" | "fence" => json!(1),
        "content" | "name" | "agent" | "text" | "summary" | "question" => json!("text"),
        "keep" => json!(true),
        other => panic!("this test does not know the field {other}"),
    }
}
