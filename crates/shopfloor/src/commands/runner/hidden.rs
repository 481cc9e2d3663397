//! What sandboxes hide: data directories, databases, keys and settings of the hubs and runners on this machine.

use std::path::{Path, PathBuf};

use crate::commands::serve_args::{ServeArgs, ServeSettings};
use crate::{Context, Failure, places};

/// Suffixes of the files that SQLite keeps beside a database.
const BESIDE: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// All paths named by settings, environment, default locations and other processes; `more` was passed to this runner.
pub(crate) fn hidden(context: &Context, more: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let layers = &context.layers;
    let variable = |name: &str| layers.variable(name);
    let mut all = vec![context.settings.data_dir.value.clone()];
    // --data-dir names the runner's own folder; the hub's folder is found without it.
    all.extend(layers.text("data_dir", None)?.map(|found| PathBuf::from(found.value)));
    all.extend(places::data_dir(&variable));
    all.extend(layers.path().and_then(Path::parent).map(Path::to_owned));
    let serve = ServeArgs::default().settle(layers, &context.settings.data_dir.value)?;
    all.extend(of_hub(&serve, &context.settings.data_dir.value));
    all.extend(layers.list("hide", Vec::new())?.value.into_iter().map(PathBuf::from));
    all.extend(::runner::noted_places(&variable));
    all.extend_from_slice(more);
    all.sort();
    all.dedup();
    let found = |path: PathBuf| {
        std::path::absolute(&path)
            .map_err(|error| Failure::usage(format!("could not find {}: {error}", path.display())))
    };
    all.into_iter().map(found).collect()
}

/// Records this process's paths, so that other runners hide them, too.
pub(crate) fn note(context: &Context, paths: &[PathBuf]) {
    // A hub or runner also starts with a full disk; its first start has recorded its paths.
    if let Err(error) = ::runner::note_places(&|name| context.layers.variable(name), paths) {
        tracing::warn!(%error, "could not record this process's paths: sandboxes of other runners may not hide them");
    }
}

/// A hub's private paths: its data directory, its database, and files with secrets.
pub(crate) fn of_hub(settings: &ServeSettings, data_dir: &Path) -> Vec<PathBuf> {
    let mut all = vec![data_dir.to_owned(), settings.key_file.value.clone()];
    if let Some(file) = crate::commands::doctor::database_file(&settings.database.value) {
        all.extend(around(&file));
    }
    let secrets = [&settings.tls_key, &settings.github_client_secret_file];
    all.extend(secrets.into_iter().flatten().map(|file| PathBuf::from(&file.value)));
    all
}

/// A database's folder, because files in it come and go; only the database's files if the folder is shared.
fn around(database: &Path) -> Vec<PathBuf> {
    let folder = std::path::absolute(database).ok().and_then(|file| file.parent().map(Path::to_owned));
    let home = std::env::home_dir();
    let shared =
        |folder: &Path| folder.parent().is_none() || home.as_ref().is_some_and(|home| home.starts_with(folder));
    match folder {
        Some(folder) if !shared(&folder) => vec![folder],
        _ => {
            let beside = |end: &str| PathBuf::from(format!("{}{end}", database.display()));
            BESIDE.into_iter().map(beside).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layers;

    fn of(config: &str) -> Vec<PathBuf> {
        let layers = Layers::new(|_| None, None, config).unwrap();
        let settings = ServeArgs::default().settle(&layers, Path::new("/data")).unwrap();
        of_hub(&settings, Path::new("/data"))
    }

    #[test]
    fn a_hubs_secrets_are_where_its_settings_say() {
        let own = [PathBuf::from("/data"), PathBuf::from("/data.key")];
        assert!(of("").iter().all(|path| own.contains(path)), "{:?}", of(""));
        let elsewhere = of("database = 'sqlite:/srv/floor/shop.db'");
        assert!(elsewhere.contains(&"/srv/floor".into()) && elsewhere.contains(&"/data".into()), "{elsewhere:?}");
        let keys = of("tls_cert = '/etc/cert.pem'\ntls_key = '/etc/key.pem'");
        assert!(keys.contains(&"/etc/key.pem".into()) && !keys.contains(&"/etc/cert.pem".into()), "{keys:?}");
        assert_eq!(of("database = 'postgres://h/db'"), own);
        assert!(of("key_file = '/etc/floor.key'").contains(&"/etc/floor.key".into()));
    }

    #[test]
    fn a_database_in_the_root_or_a_home_hides_its_files_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        assert_eq!(around(&file), [folder.path().to_owned()]);
        let files = around(Path::new("/not-there.db"));
        for file in ["/not-there.db", "/not-there.db-wal"] {
            assert!(files.contains(&file.into()), "a file that is created later is hidden, too: {files:?}");
        }
    }
}
