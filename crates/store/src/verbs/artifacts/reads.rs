//! Reading artifacts.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::{Action, ArtifactId, ProjectId};
use protocol::{ARTIFACT_PART, Artifact, ArtifactPart, ArtifactRange, ArtifactsWanted};

use super::{ARTIFACT_CHUNK, contents, rows};
use crate::sql::text;
use crate::verbs::projects;
use crate::{Caller, Store, StoreError};

/// The default and maximum number of listed artifacts.
const LISTED: (u32, u32) = (50, 200);

/// An artifact whose content is read chunk by chunk.
#[derive(Debug, Clone)]
pub struct ArtifactStream {
    /// The artifact.
    pub artifact: Artifact,
    content: String,
    next: u64,
}

impl ArtifactStream {
    /// The number of its chunks.
    fn chunks(&self) -> u64 {
        self.artifact.size.div_ceil(ARTIFACT_CHUNK as u64)
    }
}

impl Store {
    /// The artifacts of a project that the caller may see, newest first.
    pub async fn artifacts(
        &self,
        caller: &Caller,
        project: ProjectId,
        filter: ArtifactsWanted,
    ) -> Result<Vec<Artifact>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let facts = projects::check(&mut c, caller, project, Action::See, "project").await?;
        let mut values = vec![text(project)];
        let mut sql = format!("{} WHERE a.project = $1", rows::COLUMNS);
        sql.push_str(&rows::seen(caller, &facts, &mut values));
        let columns = [
            ("a.execution =", filter.execution.map(text)),
            ("a.path =", filter.path.map(text)),
            ("a.session =", filter.session.map(text)),
            ("a.name =", filter.name.map(text)),
            ("a.id <", filter.before.map(text)),
        ];
        for (column, value) in columns {
            if let Some(value) = value {
                values.push(value);
                sql.push_str(&format!(" AND {column} ${}", values.len()));
            }
        }
        let limit = filter.limit.unwrap_or(LISTED.0).clamp(1, LISTED.1);
        sql.push_str(&format!(" ORDER BY a.id DESC LIMIT {limit}"));
        let found = c.all(&sql, values).await?;
        found.iter().map(|row| rows::read(row).map(|row| row.artifact)).collect()
    }

    /// An artifact without its content.
    pub async fn artifact(&self, caller: &Caller, id: ArtifactId) -> Result<Artifact, StoreError> {
        rows::find(&mut self.readers.snapshot().await?.borrow(), caller, id, Action::See).await
    }

    /// An artifact, to read its content chunk by chunk.
    pub async fn artifact_stream(&self, caller: &Caller, id: ArtifactId) -> Result<ArtifactStream, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let artifact = rows::find(&mut c, caller, id, Action::See).await?;
        let found = contents::find(&mut c, &artifact.sha256).await?;
        let content = found.ok_or_else(|| StoreError::Corrupt(format!("the content of {id} is missing")))?.id;
        Ok(ArtifactStream { artifact, content, next: 0 })
    }

    /// The next chunk of a content; `None` at its end. An artifact that is removed meanwhile ends with an error.
    pub async fn artifact_chunk(&self, stream: &mut ArtifactStream) -> Result<Option<Vec<u8>>, StoreError> {
        if stream.next == stream.chunks() {
            return Ok(None);
        }
        let mut reader = self.readers.get().await?;
        let found = contents::read(&mut reader.borrow(), &stream.content, stream.next).await?;
        stream.next += 1;
        found.map(Some).ok_or(StoreError::NotFound("artifact"))
    }

    /// A part of an artifact's content.
    pub async fn artifact_part(
        &self,
        caller: &Caller,
        id: ArtifactId,
        range: ArtifactRange,
    ) -> Result<ArtifactPart, StoreError> {
        let stream = self.artifact_stream(caller, id).await?;
        let (offset, size) = (range.offset.unwrap_or(0), stream.artifact.size);
        let mut bytes = Vec::new();
        let mut at = offset;
        let most = u64::from(ARTIFACT_PART);
        while at < size && (bytes.len() as u64) < most {
            let (number, skip) = (at / ARTIFACT_CHUNK as u64, (at % ARTIFACT_CHUNK as u64) as usize);
            let mut reader = self.readers.get().await?;
            let chunk = contents::read(&mut reader.borrow(), &stream.content, number).await?;
            let chunk = chunk.ok_or(StoreError::NotFound("artifact"))?;
            let rest = chunk.get(skip..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            let take = rest.len().min((most - bytes.len() as u64) as usize);
            bytes.extend_from_slice(&rest[..take]);
            at += take as u64;
        }
        Ok(part(bytes, offset, size))
    }
}

/// Bytes as text, if they are text; a letter that they cut in two belongs to the next part.
fn part(mut bytes: Vec<u8>, offset: u64, size: u64) -> ArtifactPart {
    let whole = match std::str::from_utf8(&bytes) {
        Ok(_) => Some(bytes.len()),
        Err(error) if error.error_len().is_none() && offset + (bytes.len() as u64) < size => Some(error.valid_up_to()),
        Err(_) => None,
    };
    if let Some(length) = whole.filter(|length| *length > 0) {
        bytes.truncate(length);
    }
    let end = offset + bytes.len() as u64;
    let next = (end < size && !bytes.is_empty()).then_some(end);
    match String::from_utf8(bytes) {
        Ok(text) => ArtifactPart { offset, text: Some(text), base64: None, next, size },
        Err(error) => {
            ArtifactPart { offset, text: None, base64: Some(STANDARD.encode(error.into_bytes())), next, size }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_never_cut_in_two() {
        let all = "aä🦀".as_bytes();
        let cut = part(all[..5].to_vec(), 0, all.len() as u64);
        assert_eq!((cut.text.as_deref(), cut.next), (Some("aä"), Some(3)));
        let end = part(all[3..].to_vec(), 3, all.len() as u64);
        assert_eq!((end.text.as_deref(), end.next), (Some("🦀"), None));
        let binary = part(vec![0xff, 0xfe], 0, 2);
        assert_eq!((binary.text, binary.base64.as_deref()), (None, Some("//4=")));
        let broken = part(all[..5].to_vec(), 0, 5);
        assert!(broken.base64.is_some(), "what ends in the middle of a letter is no text");
    }
}
