//! A client's settings: the hub's address, the token, and the origin of each value.

mod layers;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use client::Token;

use crate::cli::Global;
use crate::{Failure, hub_file, places};

pub(crate) use layers::KEYS;
pub use layers::{Layers, Origin, Setting};

/// Names the file with the token of a session's agent.
const TOKEN_FILE: &str = "SHOPFLOOR_TOKEN_FILE";

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

impl FromStr for Color {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        clap::ValueEnum::from_str(text, false).map_err(|_| format!("`{text}` is not one of: auto, always, never"))
    }
}

/// The settings of a client.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The hub's address, if known.
    pub hub: Option<Setting<String>>,
    /// The token for that hub, if there is one.
    pub token: Option<Setting<Token>>,
    /// The data directory of the local hub.
    pub data_dir: Setting<PathBuf>,
    pub(crate) color: Setting<Color>,
}

impl Settings {
    /// Resolves each value: flag, environment, settings file, data directory, default.
    pub fn resolve(global: &Global, layers: &Layers) -> Result<Self, Failure> {
        let color = match layers.text("color", None)? {
            _ if global.color.is_some() => Setting::flag(global.color.unwrap_or(Color::Auto)),
            Some(given) => given.try_map("color", |text| text.parse())?,
            None => Setting::standard(Color::Auto),
        };
        let data_dir = data_dir(global, layers)?;
        let beside = hub_file::read_hub(&data_dir.value)?;
        let file = || Origin::DataDir(data_dir.value.join(hub_file::HUB_FILE));
        let found = beside.as_ref().map(|hub| Setting { value: hub.url.clone(), origin: file() });
        let given = layers.text("hub", global.hub.clone())?;
        let hub = match (given, found) {
            // A data directory from the command line or environment wins over the settings file.
            (Some(given), Some(found)) if given.origin.is_file() && !data_dir.origin.is_weak() => Some(found),
            (Some(given), _) => Some(given),
            (None, found) => found,
        };
        let given = match &global.token_file {
            Some(path) => Some(Setting::flag(in_file(path)?)),
            None => layers.text("token", global.token.clone())?.map(|given| given.map(Token::Given)),
        };
        let token = match (given, renewed(layers)) {
            // The token of a session's agent wins over the person's settings file.
            (Some(given), Some(renewed)) if given.origin.is_file() => Some(renewed),
            (Some(given), _) => Some(given),
            (None, Some(renewed)) => Some(renewed),
            // Send the local owner's token only to the local owner's hub.
            (None, None)
                if hub.as_ref().is_some_and(|hub| beside.is_some_and(|beside| same(&beside.url, &hub.value))) =>
            {
                let origin = Origin::DataDir(data_dir.value.join(hub_file::TOKEN_FILE));
                hub_file::read_token(&data_dir.value)?.map(|value| Setting { value: Token::Given(value), origin })
            }
            (None, None) => None,
        };
        Ok(Self { hub, token, data_dir, color })
    }
}

/// Maximum length of a token.
const LONGEST_TOKEN: usize = 4096;

/// The token in a file, which may be renewed; on standard input it is read once.
fn in_file(path: &Path) -> Result<Token, Failure> {
    if path != Path::new("-") {
        return Ok(Token::File(path.to_owned()));
    }
    // Byte by byte: the rest of standard input belongs to the command.
    let (mut line, mut byte) = (Vec::new(), [0_u8]);
    let mut input = std::io::stdin().lock();
    while line.len() < LONGEST_TOKEN && input.read(&mut byte).is_ok_and(|read| read == 1) && byte != *b"\n" {
        line.push(byte[0]);
    }
    let token = String::from_utf8(line).unwrap_or_default().trim().to_owned();
    if token.is_empty() {
        return Err(
            Failure::usage("the first line of standard input is not a token").advise("redirect a file: `< FILE`")
        );
    }
    Ok(Token::Given(token))
}

/// The file in which a runner renews its agent's token.
fn renewed(layers: &Layers) -> Option<Setting<Token>> {
    let path = layers.variable(TOKEN_FILE)?;
    Some(Setting { value: Token::File(path.into()), origin: Origin::Environment(TOKEN_FILE.to_owned()) })
}

fn data_dir(global: &Global, layers: &Layers) -> Result<Setting<PathBuf>, Failure> {
    let flag = global.data_dir.as_ref().map(|path| path.display().to_string());
    if let Some(given) = layers.text("data_dir", flag)? {
        // Use the flag directly: a path need not be UTF-8.
        let path = global.data_dir.clone().unwrap_or_else(|| PathBuf::from(&given.value));
        return Ok(Setting { value: path, origin: given.origin });
    }
    let standard = places::data_dir(&|name| layers.variable(name)).map(Setting::standard);
    standard.ok_or_else(|| Failure::usage("neither HOME nor XDG_DATA_HOME is set").advise("pass --data-dir DIR"))
}

fn same(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim().trim_end_matches('/')
}
