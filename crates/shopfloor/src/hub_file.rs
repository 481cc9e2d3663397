//! Files that a hub writes into its data directory for the CLI: `hub.json` and `token`.

use std::path::Path;

use domain::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// The content of `hub.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HubFile {
    /// Scheme, host and port.
    pub(crate) url: String,
    /// The hub's process id.
    pub(crate) pid: u32,
    /// When it started; hubs of earlier builds did not say.
    #[serde(default)]
    pub(crate) since: Option<Timestamp>,
    /// Its version.
    #[serde(default)]
    pub(crate) version: Option<String>,
}

/// The file with the hub's address.
pub(crate) const HUB_FILE: &str = "hub.json";
/// The file with the hub owner's token.
pub(crate) const TOKEN_FILE: &str = "token";

/// Reads `hub.json`; `None`: no hub has run here.
pub(crate) fn read_hub(data_dir: &Path) -> Result<Option<HubFile>, Failure> {
    let path = data_dir.join(HUB_FILE);
    let Some(text) = read(&path)? else {
        return Ok(None);
    };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        Failure::other(format!("could not read {}: {error}", path.display()))
            .advise("restart the hub; it then rewrites the file")
    })
}

/// Reads the hub owner's token.
pub(crate) fn read_token(data_dir: &Path) -> Result<Option<String>, Failure> {
    let token = read(&data_dir.join(TOKEN_FILE))?.map(|text| text.trim().to_owned());
    Ok(token.filter(|token| !token.is_empty()))
}

fn read(path: &Path) -> Result<Option<String>, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(Failure::other(format!("could not read {}: {error}", path.display())).advise(
            "the data directory belongs to the user who runs the hub; as another user, pass --hub URL and --token-file FILE",
        )),
    }
}
