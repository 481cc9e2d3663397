//! The bytes of artifacts, which stream to the hub and from it.

use std::time::Duration;

use bytes::Bytes;
use domain::{ArtifactId, ProjectId};
use futures_util::{Stream, StreamExt};
use http_body_util::StreamBody;
use protocol::ArtifactContent;

use crate::{Client, ClientError};

/// How long a transfer may take.
const TRANSFER: Duration = Duration::from_secs(3600);

/// The content of an artifact, piece by piece.
pub struct Download {
    response: reqwest::Response,
    url: String,
}

impl Download {
    /// The next piece; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ClientError> {
        let lost = |error: reqwest::Error| ClientError::unreachable(&self.url, error.without_url());
        self.response.chunk().await.map_err(lost)
    }
}

impl Client {
    /// Sends the content of an artifact, of which size and hash are known. It can be sent again.
    pub async fn send_content<S>(
        &self,
        project: ProjectId,
        content: &ArtifactContent,
        pieces: S,
    ) -> Result<ArtifactContent, ClientError>
    where
        S: Stream<Item = std::io::Result<Bytes>> + Send + Sync + 'static,
    {
        let url = format!("{}/api/projects/{project}/artifacts/contents/{}", self.url(), content.sha256);
        let body = reqwest::Body::wrap(StreamBody::new(pieces.map(|piece| piece.map(http_body::Frame::data))));
        let request = self.http().put(url).timeout(TRANSFER).header("content-length", content.size).body(body);
        let response = self.allowed(request)?.send().await;
        let response = response.map_err(|error| ClientError::unreachable(self.url(), error.without_url()))?;
        self.read(response).await
    }

    /// Asks for the content of an artifact.
    pub async fn download(&self, artifact: ArtifactId) -> Result<Download, ClientError> {
        let url = format!("{}/api/artifacts/{artifact}/content", self.url());
        let response = self.allowed(self.http().get(url).timeout(TRANSFER))?.send().await;
        let response = response.map_err(|error| ClientError::unreachable(self.url(), error.without_url()))?;
        if !response.status().is_success() {
            return Err(self.problem(response).await);
        }
        Ok(Download { response, url: self.url().to_owned() })
    }

    async fn read<T: serde::de::DeserializeOwned>(&self, response: reqwest::Response) -> Result<T, ClientError> {
        if !response.status().is_success() {
            return Err(self.problem(response).await);
        }
        let body = response.bytes().await.map_err(|error| ClientError::unreachable(self.url(), error.without_url()))?;
        serde_json::from_slice(&body)
            .map_err(|error| ClientError::Protocol(format!("the hub's answer could not be read: {error}")))
    }

    async fn problem(&self, response: reqwest::Response) -> ClientError {
        let status = response.status().as_u16();
        let body = response.bytes().await.unwrap_or_default();
        self.refusal(status, &body)
    }
}
