//! What every sandbox hides: the folders of hubs and runners on this machine.

use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::Options;
use crate::places::{DATA, noted_places};

/// Files of a hub's data directory.
const OF_A_HUB: [&str; 2] = ["hub.json", "shopfloor.db"];

const SETTINGS: &str = ".config/shopfloor";

/// The paths to hide. Missing default folders are created: only an existing folder can be hidden, and a hub that starts
/// later would be visible.
pub(crate) fn hidden(options: &Options, person: &BTreeMap<String, String>) -> Vec<PathBuf> {
    for folder in usual(person).iter().filter(|folder| !folder.exists()) {
        if let Err(error) = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder) {
            tracing::debug!(folder = %folder.display(), %error, "could not create a folder to hide");
        }
    }
    ours(options, person)
}

/// The same; creates nothing.
pub(crate) fn ours(options: &Options, person: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let account = agents::homes(person).into_iter().flat_map(|home| [home.join(DATA), home.join(SETTINGS)]);
    let above = options.data_dir.ancestors().skip(1).filter(|folder| is_of_a_hub(folder)).map(Path::to_owned);
    let own = [options.data_dir.clone(), options.config_dir.clone()];
    let noted = noted_places(&|name| person.get(name).cloned());
    let named = options.hidden.iter().cloned().chain(noted);
    usual(person).into_iter().chain(account).chain(named).chain(above).chain(own).collect()
}

/// The default folders of hubs, runners and settings.
fn usual(person: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let places = [("HOME", DATA), ("HOME", SETTINGS), ("XDG_DATA_HOME", "shopfloor"), ("XDG_CONFIG_HOME", "shopfloor")];
    let named = |name: &str| person.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    places.into_iter().filter_map(|(name, below)| Some(named(name)?.join(below))).collect()
}

fn is_of_a_hub(folder: &Path) -> bool {
    OF_A_HUB.iter().any(|name| folder.join(name).exists())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Secret, note_places};

    #[test]
    fn every_folder_of_ours_is_hidden() {
        let place = tempfile::tempdir().unwrap();
        let (home, hub) = (place.path().join("home"), place.path().join("hub"));
        let data_dir = hub.join("runner");
        for folder in [&home, &data_dir] {
            std::fs::create_dir_all(folder).unwrap();
        }
        std::fs::write(hub.join("hub.json"), "{}").unwrap();
        let mut options = Options::new("http://127.0.0.1:1", Secret::new("secret"), &data_dir, "/bin/true");
        options.hidden = vec!["/elsewhere".into()];
        note_places(&|name| (name == "HOME").then(|| home.display().to_string()), &["/srv/hub".into()]).unwrap();
        options.config_dir = "/settings".into();
        let text = |path: &Path| path.display().to_string();
        let person = BTreeMap::from([
            ("HOME".to_owned(), text(&home)),
            ("XDG_DATA_HOME".to_owned(), text(&place.path().join("xdg"))),
        ]);
        let hidden = hidden(&options, &person);
        let wanted = [
            data_dir,
            hub,
            "/elsewhere".into(),
            "/srv/hub".into(),
            "/settings".into(),
            place.path().join("xdg/shopfloor"),
            home.join(".local/share/shopfloor"),
            home.join(".config/shopfloor"),
        ];
        for path in wanted {
            assert!(hidden.contains(&path), "{} is not in {hidden:?}", path.display());
        }
        assert!(home.join(".local/share/shopfloor").is_dir(), "only an existing folder can be hidden");
    }
}
