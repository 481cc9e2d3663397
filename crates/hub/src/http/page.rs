//! The page, embedded in the binary in compressed forms.

use std::borrow::Cow;
use std::io::Read;

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::{Embed, EmbeddedFile};

use super::encoding::{Encoding, negotiate};

// Texts are embedded in their compressed forms only, which web/compress.ts writes; it has the same list.
#[derive(Embed)]
#[folder = "../../web/dist"]
#[exclude = "*.js"]
#[exclude = "*.css"]
#[exclude = "*.html"]
#[exclude = "*.svg"]
#[exclude = "*.json"]
#[exclude = "*.webmanifest"]
#[exclude = "*.txt"]
#[allow_missing = true]
struct Page;

const NOT_BUILT: &str = "The page was not built into this hub. Run `make build`, then start it again.\n\
    The HTTP API and the CLI work without it.\n";

/// One form of a file.
struct Form {
    bytes: Cow<'static, [u8]>,
    encoding: Encoding,
    /// Differs between the forms of a file.
    etag: String,
    /// Whether there are other forms.
    varies: bool,
}

/// A file of the page, or the page itself for any of its paths.
pub(crate) async fn serve(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")]).into_response();
    }
    let path = uri.path().trim_start_matches('/');
    let accept: Vec<&str> =
        headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok()).collect();
    let encoding = negotiate((!accept.is_empty()).then(|| accept.join(",")).as_deref());
    if let Some(form) = find(path, encoding) {
        return respond(path, form, &headers);
    }
    if path.starts_with("assets/") || path.contains('.') {
        return (StatusCode::NOT_FOUND, "not found\n").into_response();
    }
    match find("index.html", encoding) {
        Some(form) => respond("index.html", form, &headers),
        None => (StatusCode::SERVICE_UNAVAILABLE, NOT_BUILT).into_response(),
    }
}

/// A file in this encoding, or as it is if it has no compressed form.
fn find(path: &str, encoding: Encoding) -> Option<Form> {
    if path.ends_with(".br") || path.ends_with(".gz") {
        return None;
    }
    let hash = |file: &EmbeddedFile| hex::encode(&file.metadata.sha256_hash()[..16]);
    if let Some(file) = Page::get(path) {
        let etag = format!("\"{}\"", hash(&file));
        return Some(Form { bytes: file.data, encoding: Encoding::Identity, etag, varies: false });
    }
    if encoding == Encoding::Brotli {
        let file = Page::get(&format!("{path}.br"))?;
        let etag = format!("\"{}\"", hash(&file));
        return Some(Form { bytes: file.data, encoding, etag, varies: true });
    }
    let file = Page::get(&format!("{path}.gz"))?;
    if encoding == Encoding::Gzip {
        let etag = format!("\"{}\"", hash(&file));
        return Some(Form { bytes: file.data, encoding, etag, varies: true });
    }
    let etag = format!("\"{}-plain\"", hash(&file));
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(&*file.data).read_to_end(&mut plain).ok()?;
    Some(Form { bytes: plain.into(), encoding, etag, varies: true })
}

fn respond(path: &str, form: Form, headers: &HeaderMap) -> Response {
    // Names under assets/ contain a hash of their content; everything else is revalidated.
    let caching = if path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let known = headers.get_all(header::IF_NONE_MATCH).iter().any(|value| names(value, &form.etag));
    let mut response = if known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let mut kind = mime_guess::from_path(path).first_or_octet_stream().to_string();
        if kind.starts_with("text/") {
            kind.push_str("; charset=utf-8");
        }
        ([(header::CONTENT_TYPE, kind)], form.bytes).into_response()
    };
    let head = response.headers_mut();
    head.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    if form.varies {
        head.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    }
    if let Some(word) = form.encoding.word().filter(|_| !known) {
        head.insert(header::CONTENT_ENCODING, HeaderValue::from_static(word));
    }
    if let Ok(etag) = HeaderValue::try_from(form.etag) {
        head.insert(header::ETAG, etag);
    }
    response
}

/// Whether `If-None-Match` names the tag; proxies may have weakened it.
fn names(value: &HeaderValue, etag: &str) -> bool {
    let Ok(value) = value.to_str() else { return false };
    value.split(',').map(str::trim).any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}
