//! Accepting an invitation without a browser.

use protocol::{InviteAccept, NewToken, Problem, TokenCreate};
use serde::de::DeserializeOwned;

use crate::{Client, ClientError};

impl Client {
    /// Joins with an invitation's link, as `name`; returns a client with a new token of that person.
    pub async fn join(&self, link: &str, name: &str) -> Result<Self, ClientError> {
        let secret = link.rsplit_once('#').map_or(link, |(_, secret)| secret).to_owned();
        let accept = InviteAccept { secret, name: name.to_owned() };
        let joined = self.post("/api/invites/accept", &accept, None).await?;
        let cookie = joined.headers().get("set-cookie").and_then(|cookie| cookie.to_str().ok());
        let cookie = cookie.and_then(|cookie| cookie.split(';').next()).map(str::to_owned);
        let cookie = cookie.ok_or_else(|| ClientError::Protocol("the hub logged nobody in".into()))?;
        answer::<serde::de::IgnoredAny>(joined, self.url()).await?;
        let input = TokenCreate { name: "example".into(), expires_at: None };
        let made = self.post("/api/tokens", &input, Some(&cookie)).await?;
        let made: NewToken = answer(made, self.url()).await?;
        Self::new(self.url(), &made.secret)
    }

    async fn post<B: serde::Serialize + Sync>(
        &self,
        path: &str,
        body: &B,
        cookie: Option<&str>,
    ) -> Result<reqwest::Response, ClientError> {
        let lost = |error: reqwest::Error| ClientError::unreachable(self.url(), error.without_url());
        let request = self.http().post(format!("{}{path}", self.url())).header("origin", self.url()).json(body);
        let request = match cookie {
            Some(cookie) => request.header("cookie", cookie),
            None => request,
        };
        request.send().await.map_err(lost)
    }
}

async fn answer<T: DeserializeOwned>(response: reqwest::Response, url: &str) -> Result<T, ClientError> {
    let lost = |error: reqwest::Error| ClientError::unreachable(url, error.without_url());
    let good = response.status().is_success();
    let body = response.bytes().await.map_err(lost)?;
    if !good && let Ok(problem) = serde_json::from_slice::<Problem>(&body) {
        return Err(ClientError::Problem(problem));
    }
    serde_json::from_slice(&body)
        .map_err(|error| ClientError::Protocol(format!("the hub's answer could not be read: {error}")))
}
