//! Every verb over HTTP, as the protocol declares it: decode, call, encode, and its OpenAPI operation.

use std::pin::Pin;
use std::sync::Arc;

use axum::RequestPartsExt;
use axum::Router;
use axum::extract::{FromRequest, RawPathParams, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use protocol::verbs::{BodyPart, PathPart, QueryPart, Schemas, Visitor, visit_all};
use protocol::{Call, ProblemKind, Spec, Verb, View};
use utoipa::openapi::path::{HttpMethod, OperationBuilder, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{Content, OpenApi, Ref, RefOr, Required, ResponseBuilder, Schema};

use super::extract::{Authenticated, Body, Search};
use crate::AppError;
use crate::hub::Hub;

/// Adds a route and an operation for every verb.
pub(crate) fn add(router: Router<Arc<Hub>>, document: &mut OpenApi) -> Router<Arc<Hub>> {
    let mut adding = Adding { router, document, schemas: Schemas::new() };
    visit_all(&mut adding);
    let Adding { router, document, schemas } = adding;
    document.components.get_or_insert_default().schemas.extend(schemas);
    router
}

struct Adding<'a> {
    router: Router<Arc<Hub>>,
    document: &'a mut OpenApi,
    schemas: Schemas,
}

impl Visitor for Adding<'_> {
    fn visit<V: Verb>(&mut self) {
        let (filter, method) = match V::SPEC.method {
            "GET" => (MethodFilter::GET, HttpMethod::Get),
            "POST" => (MethodFilter::POST, HttpMethod::Post),
            "PATCH" => (MethodFilter::PATCH, HttpMethod::Patch),
            "DELETE" => (MethodFilter::DELETE, HttpMethod::Delete),
            other => unreachable!("{} is declared with the method {other}", V::SPEC.name),
        };
        let router = std::mem::take(&mut self.router);
        self.router = router.route(V::SPEC.path, serve(filter, |request| Box::pin(call::<V>(request))));
        let operation = operation::<V>(&V::SPEC, &mut self.schemas);
        self.document.paths.add_path_operation(V::SPEC.path, vec![method], operation);
    }
}

/// Reads a request as the call of a verb.
type Read = fn(Request) -> Pin<Box<dyn Future<Output = Result<Call, Response>> + Send>>;

/// Serves one verb. The compiler builds axum's layers once for all verbs, because nothing here is generic.
fn serve(filter: MethodFilter, read: Read) -> MethodRouter<Arc<Hub>> {
    let handler = async move |State(hub): State<Arc<Hub>>, caller: Authenticated, request: Request| -> Response {
        match read(request).await {
            Ok(call) => caller.run(&hub, call).await,
            Err(refusal) => refusal,
        }
    };
    on(filter, handler)
}

async fn call<V: Verb>(request: Request) -> Result<Call, Response> {
    decode::<V>(request).await.map(Into::into)
}

async fn decode<V: Verb>(request: Request) -> Result<V, Response> {
    let (mut parts, body) = request.into_parts();
    let ids = parts.extract::<RawPathParams>().await.map_err(|error| invalid(error.body_text()))?;
    let path = V::Path::read(ids.iter().next().map(|(_, id)| id)).map_err(invalid)?;
    let query = match V::Query::NONE {
        Some(none) => none,
        None => {
            let Search(fields) = parts.extract().await.map_err(IntoResponse::into_response)?;
            V::Query::with(fields)
        }
    };
    let body = match V::Body::NONE {
        Some(none) => none,
        None => V::Body::with(Body::from_request(Request::from_parts(parts, body), &()).await?.0),
    };
    Ok(V::from_parts(path, query, body))
}

fn invalid(detail: impl Into<String>) -> Response {
    AppError::new(ProblemKind::Invalid, detail.into()).into_response()
}

fn operation<V: Verb>(spec: &Spec, schemas: &mut Schemas) -> OperationBuilder {
    let mut operation =
        OperationBuilder::new().tag(spec.subject).operation_id(Some(spec.name)).summary(Some(spec.about.trim()));
    if let (Some(schema), Some(field)) = (V::Path::schema(schemas), spec.fields.first()) {
        let parameter = ParameterBuilder::new()
            .name(field.name)
            .parameter_in(ParameterIn::Path)
            .required(Required::True)
            .schema(Some(reference(schema)));
        operation = operation.parameter(parameter);
    }
    for parameter in V::Query::parameters() {
        operation = operation.parameter(parameter);
    }
    if let Some(schema) = V::Body::schema(schemas) {
        let body = RequestBodyBuilder::new()
            .content("application/json", Content::new(Some(reference(schema))))
            .required(Some(Required::True));
        operation = operation.request_body(Some(body.build()));
    }
    let response = ResponseBuilder::new().description("done");
    let response = match V::Answer::schema(schemas) {
        Some(schema) => response.content("application/json", Content::new(Some(schema))),
        None => response,
    };
    operation.response(spec.status.to_string(), response)
}

fn reference(name: String) -> RefOr<Schema> {
    RefOr::Ref(Ref::from_schema_name(name))
}
