//! Resolves a key: flag before environment before `config.toml`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::{Table, Value};

use crate::{Failure, places};

/// Every key of `config.toml`; the environment variable is the same in capitals, with the prefix `SHOPFLOOR_`.
pub(crate) const KEYS: [&str; 34] = [
    "hub",
    "token",
    "data_dir",
    "color",
    "detach_key",
    "listen",
    "database",
    "owner_name",
    "public_url",
    "behind_proxy",
    "tls_cert",
    "tls_key",
    "allow_origin",
    "allow_host",
    "key_file",
    "notify_allow_host",
    "github_client_id",
    "github_client_secret_file",
    "github_allow",
    "github_url",
    "github_api_url",
    "labels",
    "capacity",
    "disk_quota",
    "recordings_limit",
    "session_nice",
    "session_memory",
    "session_processes",
    "session_cpu_seconds",
    "hide",
    "git_login",
    "private_hosts",
    "log",
    "release_index",
];

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    Flag,
    /// This environment variable.
    Environment(String),
    /// This settings file.
    File(PathBuf),
    /// This file in the data directory.
    DataDir(PathBuf),
    /// The default.
    Default,
}

impl Origin {
    pub(crate) fn is_file(&self) -> bool {
        matches!(self, Self::File(_))
    }

    /// Whether neither command line nor environment set it.
    pub(crate) fn is_weak(&self) -> bool {
        !matches!(self, Self::Flag | Self::Environment(_))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("command line"),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::File(path) | Self::DataDir(path) => path.display().fmt(f),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub origin: Origin,
}

impl<T> Setting<T> {
    pub(crate) fn flag(value: T) -> Self {
        Self { value, origin: Origin::Flag }
    }

    pub(crate) fn standard(value: T) -> Self {
        Self { value, origin: Origin::Default }
    }

    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Setting<U> {
        Setting { value: change(self.value), origin: self.origin }
    }

    pub(crate) fn try_map<U>(
        self,
        key: &str,
        read: impl FnOnce(T) -> Result<U, String>,
    ) -> Result<Setting<U>, Failure> {
        match read(self.value) {
            Ok(value) => Ok(Setting { value, origin: self.origin }),
            Err(error) => Err(Failure::usage(format!("`{key}` ({}): {error}", self.origin))),
        }
    }
}

type Environment = dyn Fn(&str) -> Option<String> + Send + Sync;

/// The environment and the settings file.
#[derive(Clone)]
pub struct Layers {
    environment: Arc<Environment>,
    file: Table,
    path: Option<PathBuf>,
}

impl Layers {
    /// Those of this process.
    pub fn of_this_machine() -> Result<Self, Failure> {
        let environment = |name: &str| std::env::var(name).ok();
        let path = places::config_file(&environment);
        let text = path.as_deref().map(read).transpose()?.flatten();
        Self::new(environment, path, text.as_deref().unwrap_or_default())
    }

    /// Those with this environment and settings file.
    pub fn new(
        environment: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
        path: Option<PathBuf>,
        text: &str,
    ) -> Result<Self, Failure> {
        let shown = path.as_deref().unwrap_or(Path::new("config.toml")).display().to_string();
        let file: Table =
            text.parse().map_err(|error| Failure::usage(format!("could not read {shown}: {error}").trim_end()))?;
        if let Some(unknown) = file.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let detail = format!("unknown key `{unknown}` in {shown}");
            return Err(Failure::usage(detail).advise(format!("known keys: {}", KEYS.join(", "))));
        }
        Ok(Self { environment: Arc::new(environment), file, path })
    }

    /// The path of the settings file, whether it exists or not.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// An environment variable; an empty one counts as unset.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name).filter(|value| !value.is_empty())
    }

    /// A text.
    pub fn text(&self, key: &str, flag: Option<String>) -> Result<Option<Setting<String>>, Failure> {
        if let Some(found) = self.above_file(key, flag) {
            return Ok(Some(found));
        }
        let text = |value: Value| value.try_into().map_err(|_| "must be a string".into());
        self.in_file(key).map(|found| found.try_map(key, text)).transpose()
    }

    /// A value written as a string, or as a number in the settings file.
    pub fn value<T>(
        &self,
        key: &str,
        flag: Option<T>,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<Setting<T>>, Failure> {
        if let Some(flag) = flag {
            return Ok(Some(Setting::flag(flag)));
        }
        let found = match (self.above_file(key, None), self.in_file(key)) {
            (Some(found), _) => Some(found),
            (None, Some(Setting { value: Value::Integer(number), origin })) => {
                Some(Setting { value: number.to_string(), origin })
            }
            (None, _) => self.text(key, None)?,
        };
        found.map(|found| found.try_map(key, |text| read(&text))).transpose()
    }

    /// A switch; the flag can only turn it on.
    pub fn switch(&self, key: &str, flag: bool) -> Result<Setting<bool>, Failure> {
        if let Some(found) = self.above_file(key, flag.then(|| "true".to_owned())) {
            return found.try_map(key, |text| match text.as_str() {
                "1" | "true" | "yes" | "on" => Ok(true),
                "0" | "false" | "no" | "off" => Ok(false),
                _ => Err(format!("`{text}` is not true or false")),
            });
        }
        let found = self
            .in_file(key)
            .map(|found| found.try_map(key, |value| value.as_bool().ok_or("must be true or false".into())));
        found.transpose().map(|found| found.unwrap_or(Setting::standard(false)))
    }

    /// A list; in the environment separated by commas.
    pub fn list(&self, key: &str, flags: Vec<String>) -> Result<Setting<Vec<String>>, Failure> {
        if !flags.is_empty() {
            return Ok(Setting::flag(flags));
        }
        if let Some(found) = self.above_file(key, None) {
            let parts = found.value.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty());
            return Ok(Setting { value: parts.collect(), origin: found.origin });
        }
        let texts = |value: Value| value.try_into::<Vec<String>>().map_err(|_| "must be a list of strings".into());
        let found = self.in_file(key).map(|found| found.try_map(key, texts));
        found.transpose().map(|found| found.unwrap_or(Setting::standard(Vec::new())))
    }

    fn above_file(&self, key: &str, flag: Option<String>) -> Option<Setting<String>> {
        let name = format!("SHOPFLOOR_{}", key.to_uppercase());
        let environment = || self.variable(&name).map(|value| Setting { value, origin: Origin::Environment(name) });
        flag.map(Setting::flag).or_else(environment)
    }

    fn in_file(&self, key: &str) -> Option<Setting<Value>> {
        let origin = Origin::File(self.path.clone().unwrap_or_else(|| "config.toml".into()));
        self.file.get(key).map(|value| Setting { value: value.clone(), origin })
    }
}

fn read(path: &Path) -> Result<Option<String>, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(Failure::usage(format!("could not read {}: {error}", path.display()))),
    }
}
