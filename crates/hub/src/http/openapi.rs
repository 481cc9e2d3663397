//! The OpenAPI document, generated from the handlers.

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use protocol::Problem;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, RefOr, ResponseBuilder, SecurityRequirement};
use utoipa::{OpenApi as _, PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{artifacts, entry, github, hooks, verbs};
use crate::hub::Hub;

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Shopfloor",
        description = "The hub's verbs over HTTP. The same verbs travel over the WebSocket at /api/ws, which also tells \
                   what changes; docs/protocol.md describes it.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    paths(artifacts::put, artifacts::get)
)]
struct Base;

/// Errors of every operation.
const PROBLEMS: &[(&str, &str)] = &[
    ("400", "the request is invalid"),
    ("401", "no valid credential"),
    ("403", "the caller may not do this"),
    ("404", "it does not exist, or the caller has no access to it"),
    ("409", "somebody changed it first, a name is taken, or no runner can run it"),
    ("413", "the body is too large"),
    ("415", "the body is not JSON"),
    ("421", "the host name is not this hub's"),
    ("429", "too many requests: see Retry-After"),
    ("503", "the database or the runner does not answer: retry with the same key"),
    ("507", "the hub cannot write: the disk is full or the database is read-only"),
];

/// The routes with the document that describes them.
pub(crate) fn routes() -> (Router<Arc<Hub>>, OpenApi) {
    let entrances = OpenApiRouter::with_openapi(Base::openapi())
        .routes(routes!(entry::sign_in))
        .routes(routes!(entry::health))
        .routes(routes!(entry::login))
        .routes(routes!(entry::join))
        .routes(routes!(entry::observe))
        .routes(routes!(entry::logout))
        .routes(routes!(github::begin))
        .routes(routes!(github::callback))
        .routes(routes!(hooks::receive));
    let (router, mut document) = entrances.split_for_parts();
    let router = verbs::add(router, &mut document);
    complete(&mut document);
    (router, document)
}

/// The OpenAPI document.
pub fn document() -> OpenApi {
    routes().1
}

/// Adds the common parts of every operation.
fn complete(document: &mut OpenApi) {
    let components = document.components.get_or_insert_default();
    components.schemas.insert(Problem::name().into_owned(), Problem::schema());
    let mut nested = Vec::new();
    Problem::schemas(&mut nested);
    components.schemas.extend(nested);
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A token: `shopfloor token create`"))
        .build();
    components.add_security_scheme("token", SecurityScheme::Http(bearer));
    let login = ApiKeyValue::with_description("shopfloor_PORT", "A browser's login; the name contains the hub's port");
    components.add_security_scheme("login", SecurityScheme::ApiKey(ApiKey::Cookie(login)));
    let none: [&str; 0] = [];
    document.security = Some(vec![SecurityRequirement::new("token", none), SecurityRequirement::new("login", none)]);
    for item in document.paths.paths.values_mut() {
        let operations = [&mut item.get, &mut item.post, &mut item.patch, &mut item.delete, &mut item.put];
        for operation in operations.into_iter().flatten() {
            for (status, description) in PROBLEMS {
                let content = ContentBuilder::new().schema(Some(RefOr::Ref(Ref::from_schema_name("Problem")))).build();
                let response = ResponseBuilder::new()
                    .description(*description)
                    .content("application/problem+json", content)
                    .build();
                operation.responses.responses.entry((*status).to_owned()).or_insert(RefOr::T(response));
            }
        }
    }
}

/// Serves the JSON Schema of recipes as it is, for editors: they have no credential.
pub(crate) async fn recipe_schema() -> Response {
    ([(header::CONTENT_TYPE, "application/schema+json")], recipes::schema().to_string()).into_response()
}

/// Serves the document.
pub(crate) async fn serve(document: Arc<String>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], document.as_str().to_owned()).into_response()
}
