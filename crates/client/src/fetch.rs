//! One small file from the web, which is not a hub's answer.

use std::time::Duration;

use crate::ClientError;

const TIMEOUT: Duration = Duration::from_secs(15);

/// Fetches `url`; refuses more than `limit` bytes.
pub async fn fetch(url: &str, limit: usize) -> Result<Vec<u8>, ClientError> {
    crate::tls::choose_provider();
    let lost = |error: reqwest::Error| ClientError::Protocol(format!("could not fetch {url}: {}", innermost(&error)));
    let refuse = |why: String| ClientError::Protocol(format!("could not fetch {url}: {why}"));
    let agent = concat!("shopfloor/", env!("CARGO_PKG_VERSION"));
    let http = reqwest::Client::builder().timeout(TIMEOUT).user_agent(agent).build().map_err(lost)?;
    let mut response = http.get(url).send().await.map_err(lost)?;
    if !response.status().is_success() {
        return Err(refuse(format!("the server answered {}", response.status())));
    }
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(lost)? {
        if body.len() + part.len() > limit {
            return Err(refuse(format!("it has more than {limit} bytes")));
        }
        body.extend_from_slice(&part);
    }
    Ok(body)
}

fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    innermost.to_string()
}
