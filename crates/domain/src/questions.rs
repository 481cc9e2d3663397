//! Questions to the agents of sessions that have ended.

use crate::values::words;
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

words! {
    /// How far a question is.
    QuestionStatus {
        /// The agent is answering.
        Asked = "asked",
        /// The answer is there.
        Answered = "answered",
        /// There is no answer; the detail says why.
        Failed = "failed",
    }
}
