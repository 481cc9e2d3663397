//! The page, embedded in the binary.

use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::{Embed, EmbeddedFile};

#[derive(Embed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Page;

const NOT_BUILT: &str = "The page was not built into this hub. Run `make build`, then start it again.\n\
    The HTTP API and the CLI work without it.\n";

/// A file of the page, or the page itself for any of its paths.
pub(crate) async fn serve(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")]).into_response();
    }
    let path = uri.path().trim_start_matches('/');
    if let Some(file) = Page::get(path) {
        return respond(path, &file, &headers);
    }
    if path.starts_with("assets/") || path.contains('.') {
        return (StatusCode::NOT_FOUND, "not found\n").into_response();
    }
    match Page::get("index.html") {
        Some(file) => respond("index.html", &file, &headers),
        None => (StatusCode::SERVICE_UNAVAILABLE, NOT_BUILT).into_response(),
    }
}

fn respond(path: &str, file: &EmbeddedFile, headers: &HeaderMap) -> Response {
    let etag = format!("\"{}\"", hex::encode(&file.metadata.sha256_hash()[..16]));
    // Names under assets/ contain a hash of their content; everything else is revalidated.
    let caching = if path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    if known == Some(etag.as_str()) {
        return (StatusCode::NOT_MODIFIED, [(header::ETAG, etag)]).into_response();
    }
    let mut kind = mime_guess::from_path(path).first_or_octet_stream().to_string();
    if kind.starts_with("text/") {
        kind.push_str("; charset=utf-8");
    }
    let head = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, caching.to_owned()), (header::ETAG, etag)];
    (head, file.data.clone()).into_response()
}
