//! Every operation of the OpenAPI document, with ids that fit its path.

use reqwest::Method;
use serde_json::Value;

/// One operation.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) method: Method,
    /// As in the document.
    pub(crate) template: String,
    /// With ids of nothing filled in.
    pub(crate) path: String,
    pub(crate) has_body: bool,
}

/// Every documented operation.
pub(crate) fn all() -> Vec<Operation> {
    let document = serde_json::to_value(hub::openapi_document()).expect("the document is JSON");
    let paths = document["paths"].as_object().expect("paths").clone();
    let mut found = Vec::new();
    for (template, item) in paths {
        for (method, operation) in item.as_object().expect("operations") {
            let Ok(method) = method.to_uppercase().parse::<Method>() else { continue };
            if !operation.is_object() || operation.get("responses").is_none() {
                continue;
            }
            let has_body = !matches!(operation.get("requestBody"), None | Some(Value::Null));
            found.push(Operation { method, path: filled(&template), template: template.clone(), has_body });
        }
    }
    assert!(found.len() > 40, "the document lists operations");
    found
}

fn filled(template: &str) -> String {
    let mut path = template.to_owned();
    for (name, prefix) in [
        ("user", "usr"),
        ("project", "prj"),
        ("activity", "act"),
        ("message", "msg"),
        ("token", "tok"),
        ("login", "lgn"),
        ("invite", "inv"),
        ("observer", "obs"),
        ("runner", "run"),
        ("session", "ses"),
        ("workspace", "wsp"),
        ("task", "tsk"),
        ("worker", "wrk"),
        ("escalation", "esc"),
        ("thread", "thr"),
        ("candidate", "cnd"),
        ("approval", "apr"),
        ("grant", "gnt"),
        ("channel", "chn"),
        ("recipe", "rcp"),
        ("execution", "exe"),
        ("schedule", "sch"),
        ("hook", "hok"),
        ("handoff", "hnd"),
        ("overlap", "ovl"),
        ("reservation", "rsv"),
        ("artifact", "art"),
    ] {
        path = path.replace(&format!("{{{name}}}"), &format!("{prefix}_01a1e119f7ce75098aed4a97f220a95d"));
    }
    path = path.replace("{sha256}", &"0a".repeat(32));
    assert!(!path.contains('{'), "{template} has a parameter that this test does not know");
    path
}
