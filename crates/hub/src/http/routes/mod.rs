//! The verbs over HTTP, one file per subject: decode, call, encode.

mod activities;
mod belongings;
mod chat;
mod execution;
mod people;
mod projects;
mod tasks;
mod workers;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{entry, github};
use crate::hub::Hub;

/// Every documented route.
pub(crate) fn all() -> OpenApiRouter<Arc<Hub>> {
    OpenApiRouter::new()
        .routes(routes!(entry::sign_in))
        .routes(routes!(entry::health))
        .routes(routes!(entry::login))
        .routes(routes!(entry::join))
        .routes(routes!(entry::observe))
        .routes(routes!(entry::logout))
        .routes(routes!(github::begin))
        .routes(routes!(github::callback))
        .merge(people::routes())
        .merge(projects::routes())
        .merge(activities::routes())
        .merge(chat::routes())
        .merge(belongings::routes())
        .merge(execution::routes())
        .merge(tasks::routes())
        .merge(workers::routes())
}
