//! Artifacts; their bytes travel in `http/artifacts.rs`.

use domain::artifacts::BINARY;

use super::{handle, stored};

stored! { ArtifactRemove ArtifactConfigure }

handle! {
    ArtifactList(verb, asked) { Ok(asked.hub.store.artifacts(asked.caller, verb.project, verb.filter).await?) }

    ArtifactPut(verb, asked) {
        let mut verb = verb;
        verb.input.media_type.get_or_insert_with(|| media_type(&verb.input.name));
        asked.commit(verb).await
    }

    ArtifactShow(verb, asked) { Ok(asked.hub.store.artifact(asked.caller, verb.artifact).await?) }

    ArtifactRead(verb, asked) { Ok(asked.hub.store.artifact_part(asked.caller, verb.artifact, verb.range).await?) }

    ArtifactSettings(verb, asked) { Ok(asked.hub.store.artifact_settings(asked.caller, verb.project).await?) }
}

/// The media type that a name's extension stands for.
fn media_type(name: &str) -> String {
    mime_guess::from_path(name).first_raw().unwrap_or(BINARY).to_owned()
}
