//! Artifacts: files, summaries and other results that a project keeps.
//!
//! The bytes do not travel as JSON: `PUT /api/projects/{project}/artifacts/contents/{sha256}` takes them as they are, and
//! `GET /api/artifacts/{artifact}/content` sends them. `artifact.put` names the content that was sent before.

use domain::{ArtifactId, ArtifactKind, ExecutionId, ProjectId, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::UserRef;
use crate::shapes::{inputs, queries, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! artifacts {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* artifacts {
        changes {}
        answers {
            Artifacts(Vec<Artifact>),
            Artifact(Artifact),
            ArtifactPart(ArtifactPart),
            ArtifactSettings(crate::ArtifactSettings),
        }
        verbs {
            /// The artifacts of a project that the caller may see, newest first.
            ArtifactList "artifact.list" GET "/api/projects/{project}/artifacts"
                { path project: ProjectId, query filter: ArtifactsWanted } -> 200 Vec<Artifact>, See;
            /// Adds an artifact to a project. The same content with the same name in the same place is one artifact.
            ArtifactPut "artifact.put" POST "/api/projects/{project}/artifacts"
                { path project: ProjectId, body input: crate::ArtifactPut } -> 201 Artifact, Write;
            /// An artifact without its content.
            ArtifactShow "artifact.show" GET "/api/artifacts/{artifact}"
                { path artifact: ArtifactId } -> 200 Artifact, See;
            /// A part of an artifact's content, for readers that cannot take a stream.
            ArtifactRead "artifact.read" GET "/api/artifacts/{artifact}/part"
                { path artifact: ArtifactId, query range: ArtifactRange } -> 200 ArtifactPart, See;
            /// Removes an artifact.
            ArtifactRemove "artifact.remove" DELETE "/api/artifacts/{artifact}"
                { path artifact: ArtifactId } -> 204 (), Decide;
            /// How large the artifacts of a project may be, and how long they are kept.
            ArtifactSettings "artifact.settings" GET "/api/projects/{project}/artifacts/settings"
                { path project: ProjectId } -> 200 crate::ArtifactSettings, See;
            /// Changes how large the artifacts of a project may be, and how long they are kept.
            ArtifactConfigure "artifact.configure" PATCH "/api/projects/{project}/artifacts/settings"
                { path project: ProjectId, body input: crate::ArtifactConfigure } -> 200 crate::ArtifactSettings, Owner;
        }
    } } };
}

pub(crate) use artifacts;

/// How many bytes `artifact.read` answers at most.
pub const ARTIFACT_PART: u32 = 64 * 1024;
/// How many bytes the `text` of `artifact.put` has at most; larger content is sent first.
pub const ARTIFACT_TEXT: usize = 512 * 1024;

inputs! {
    /// A new artifact: with its text, or with the hash of content that the caller has sent before.
    ArtifactPut {
        /// Its name: a file name without folders.
        name: String,
        /// The content, if it is a text of at most 512 KiB.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The SHA-256 hash of the content, in lower-case hexadecimal digits; with a text, the hub compares them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha256: Option<String>,
        /// The media type; default: by the name's extension.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        media_type: Option<String>,
        /// The execution that it belongs to; default: that of the calling agent's session, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        execution: Option<ExecutionId>,
        /// The path of the execution's step that it belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    }

    /// What to change of a project's settings for artifacts.
    ArtifactConfigure {
        /// How many days artifacts are kept; 0: for good.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        days: Option<u32>,
        /// How many MiB an artifact may have.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_mib: Option<u32>,
        /// How many MiB all artifacts of the project may have together.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total_mib: Option<u32>,
    }
}

queries! {
    /// Which artifacts to list.
    ArtifactsWanted {
        /// Only those of this execution.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        execution: Option<ExecutionId>,
        /// Only those of this step of the execution.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// Only those of this session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// Only those with this name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Only those that are older than this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<ArtifactId>,
        /// At most this many, up to 200; default: 50.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }

    /// Which part of an artifact's content to read.
    #[derive(Copy)]
    ArtifactRange {
        /// The first byte; default: 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(type = "number")]
        offset: Option<u64>,
    }
}

views! {
    /// A result that a project keeps.
    Artifact {
        /// Its id.
        id: ArtifactId,
        /// The project.
        project: ProjectId,
        /// Its name, a file name.
        name: String,
        /// What it is.
        kind: ArtifactKind,
        /// The media type, as its author or its name says.
        media_type: String,
        /// The size of its content in bytes.
        #[ts(type = "number")]
        size: u64,
        /// The SHA-256 hash of its content.
        sha256: String,
        /// The execution that it belongs to.
        execution: Option<ExecutionId>,
        /// The path of the execution's step.
        path: Option<String>,
        /// The attempt of the step.
        attempt: Option<u32>,
        /// The session whose agent put it.
        session: Option<SessionId>,
        /// The person whose it is.
        by: UserRef,
        /// Whether an agent put it for them.
        by_agent: bool,
        /// When it was put.
        created_at: Timestamp,
    }

    /// Content that was sent, to be named by `artifact.put`.
    ArtifactContent {
        /// Its SHA-256 hash.
        sha256: String,
        /// Its size in bytes.
        #[ts(type = "number")]
        size: u64,
    }

    /// A part of an artifact's content.
    ArtifactPart {
        /// The first byte.
        #[ts(type = "number")]
        offset: u64,
        /// The part, if it is UTF-8 text.
        text: Option<String>,
        /// The part in base64, if it is not.
        base64: Option<String>,
        /// The first byte of the next part; absent at the end.
        #[ts(type = "number | null")]
        next: Option<u64>,
        /// The size of the whole content in bytes.
        #[ts(type = "number")]
        size: u64,
    }

    /// How large the artifacts of a project may be, and how long they are kept.
    ArtifactSettings {
        /// How many days artifacts are kept; 0: for good.
        days: u32,
        /// How many MiB an artifact may have.
        max_mib: u32,
        /// How many MiB all artifacts of the project may have together.
        total_mib: u32,
    }
}
