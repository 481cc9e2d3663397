//! Whether the hub is well.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::shapes::views;

views! {
    /// Whether the hub is well.
    Health {
        /// `ok`, `degraded` while a connected runner cannot record its work, `read_only` while changes are refused, or
        /// `unavailable` while the database cannot be reached.
        status: String,
        /// Why, when it is not `ok`.
        reason: Option<String>,
        /// The hub's version.
        version: String,
        /// How many connected runners cannot record their work, as on a full disk; absent: none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runners_in_trouble: Option<u32>,
    }
}
