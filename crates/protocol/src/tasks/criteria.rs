//! Acceptance criteria and their results.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::shapes::views;

/// An acceptance criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[ts(optional_fields)]
pub enum Criterion {
    /// A file exists inside the workspace and is not empty.
    FileExists {
        /// Its path in the workspace.
        path: String,
    },
    /// A file's content meets all given conditions.
    FileMatches {
        /// Its path in the workspace.
        path: String,
        /// A regular expression that must be found in it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        regex: Option<String>,
        /// A regular expression that must not be found in it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_regex: Option<String>,
        /// Minimum number of words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_words: Option<u32>,
        /// A JSON Schema that it must satisfy.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(type = "unknown")]
        #[schema(value_type = Object)]
        json_schema: Option<serde_json::Value>,
        /// The format in which it must be valid.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parses: Option<FileFormat>,
    },
    /// A command exits as expected, in the workspace, on the runner.
    Command {
        /// The program and its arguments; never a shell line.
        argv: Vec<String>,
        /// Its exit code; default: 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// How long it may take; default: 300.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_seconds: Option<u32>,
    },
    /// Only files that match these patterns were touched.
    OnlyTouches {
        /// Patterns such as `src/**` or `docs/*.md`.
        globs: Vec<String>,
    },
    /// The work can be merged into the branch that it started from.
    NoConflictWithBase {},
    /// Everything is committed, and at least one commit is new. Files that other criteria or the report name are in it.
    Committed {},
    /// A person approved the changes of the report; never passes automatically.
    Approved {},
    /// The work is on the project's target branch: once all other criteria are met, it goes through the merge queue.
    Merged {},
    /// A text for a person to judge; never passes automatically.
    Text {
        /// What must be true.
        text: String,
    },
}

/// A format that a file can be checked against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileFormat {
    /// JSON.
    Json,
    /// One JSON value on each line.
    Jsonl,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
    /// Comma-separated values, as many in each row as in the first.
    Csv,
    /// Well-formed XML.
    Xml,
    /// UTF-8 text without control characters.
    Text,
}

views! {
    /// The result of one criterion.
    CriterionResult {
        /// Its place in the task's acceptance, from 0.
        criterion: u32,
        /// Whether it is met; absent when a person must judge.
        passed: Option<bool>,
        /// What was found, to help fix it.
        reason: String,
    }
}
