//! The index of releases: a small JSON file.

use semver::Version;
use serde::Deserialize;

use crate::Failure;

/// A larger index is refused.
const LIMIT: usize = 1024 * 1024;

/// All releases that somebody offers.
#[derive(Debug, Deserialize)]
pub(super) struct Index {
    releases: Vec<Release>,
}

/// One release; what else the index says is for people and installers.
#[derive(Debug, Deserialize)]
struct Release {
    version: Version,
}

impl Index {
    /// Reads the index in a file or at an address.
    pub(super) async fn read(place: &str) -> Result<Self, Failure> {
        let bytes = if place.starts_with("http://") || place.starts_with("https://") {
            client::fetch(place, LIMIT).await.map_err(|error| Failure::unreachable(error.to_string()))?
        } else {
            std::fs::read(place).map_err(|error| Failure::usage(format!("could not read {place}: {error}")))?
        };
        serde_json::from_slice(&bytes).map_err(|error| {
            Failure::usage(format!("{place} is not an index of releases: {error}"))
                .advise("it should be like {\"releases\": [{\"version\": \"1.2.3\"}]}")
        })
    }

    /// The newest release; a preview counts only for those who use one.
    pub(super) fn newest(self, installed: &Version) -> Option<Version> {
        let versions = self.releases.into_iter().map(|release| release.version);
        versions.filter(|version| version.pre.is_empty() || !installed.pre.is_empty()).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_release_is_not_a_preview() {
        let newest = |installed: &str| {
            let index = r#"{"releases": [{"version": "0.9.0", "files": []}, {"version": "0.10.0"}, {"version": "1.0.0-rc.1"}]}"#;
            let index: Index = serde_json::from_str(index).unwrap();
            index.newest(&Version::parse(installed).unwrap()).map(|version| version.to_string())
        };
        assert_eq!(newest("0.9.0").as_deref(), Some("0.10.0"));
        assert_eq!(newest("1.0.0-alpha").as_deref(), Some("1.0.0-rc.1"));
    }
}
