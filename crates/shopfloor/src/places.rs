//! Standard paths on this machine, by the XDG rules.

use std::path::PathBuf;

/// Looks an environment variable up.
pub(crate) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The default data directory of a hub.
pub(crate) fn data_dir(env: Lookup) -> Option<PathBuf> {
    base(env, "XDG_DATA_HOME", ".local/share").map(|base| base.join("shopfloor"))
}

/// The file with a person's settings.
pub(crate) fn config_file(env: Lookup) -> Option<PathBuf> {
    base(env, "XDG_CONFIG_HOME", ".config").map(|base| base.join("shopfloor").join("config.toml"))
}

fn base(env: Lookup, variable: &str, fallback: &str) -> Option<PathBuf> {
    // The XDG rules say to ignore relative paths.
    let given = env(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    given.or_else(|| env("HOME").filter(|home| !home.is_empty()).map(|home| PathBuf::from(home).join(fallback)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xdg_comes_before_home() {
        let env = |name: &str| match name {
            "HOME" => Some("/home/ann".to_owned()),
            "XDG_DATA_HOME" => Some("/data".to_owned()),
            "XDG_CONFIG_HOME" => Some("relative".to_owned()),
            _ => None,
        };
        assert_eq!(data_dir(&env), Some("/data/shopfloor".into()));
        assert_eq!(config_file(&env), Some("/home/ann/.config/shopfloor/config.toml".into()));
        assert_eq!(data_dir(&|_| None), None);
    }
}
