//! How this program was installed, and what keeps the hub running.

use std::path::Path;

use semver::Version;
use serde::Serialize;

/// How this program was installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Way {
    /// From the Debian package.
    Deb,
    /// From the npm package.
    Npm,
    /// In a container.
    Container,
    /// Built here by cargo.
    Source,
    /// As a file that somebody put there.
    Binary,
}

/// What keeps the hub running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manager {
    /// Somebody started it.
    Nobody,
    /// The person's systemd.
    User,
    /// The machine's systemd.
    System,
}

impl Way {
    /// How `program` got there.
    pub(super) fn of(program: &Path) -> Self {
        let listed = || std::fs::read_to_string("/var/lib/dpkg/info/shopfloor.list").unwrap_or_default();
        Self::judge(program, listed, std::env::var_os("SHOPFLOOR_CONTAINER").is_some())
    }

    fn judge(program: &Path, listed: impl FnOnce() -> String, container: bool) -> Self {
        let names: Vec<&str> = program.iter().filter_map(|part| part.to_str()).collect();
        if container {
            Self::Container
        } else if names.contains(&"node_modules") {
            Self::Npm
        } else if names.windows(2).any(|pair| pair[0] == "target" && ["debug", "release", "dist"].contains(&pair[1])) {
            Self::Source
        } else if program.to_str().is_some_and(|path| listed().lines().any(|line| line == path)) {
            Self::Deb
        } else {
            Self::Binary
        }
    }

    /// In words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Deb => "a Debian package",
            Self::Npm => "an npm package",
            Self::Container => "a container image",
            Self::Source => "a build from source",
            Self::Binary => "a single file",
        }
    }

    /// How to install `version` over `program`.
    pub(super) fn install(self, version: &Version, program: &Path) -> String {
        let arch = std::env::consts::ARCH;
        match self {
            Self::Deb => {
                let arch = if arch == "x86_64" { "amd64" } else { arch };
                format!("install it: sudo apt install ./shopfloor_{version}_{arch}.deb")
            }
            Self::Npm => format!("install it: npm install shopfloor@{version} (with -g if it is installed for all)"),
            Self::Container => format!("use the image of version {version}; the data stays in its volume"),
            Self::Source => format!("get version {version} of the source, then run `make build`"),
            Self::Binary => {
                format!("replace {} by the one in shopfloor-{version}-{arch}-linux.tar.gz", program.display())
            }
        }
    }
}

impl Manager {
    /// What started the process.
    pub(super) fn of_process(pid: u32) -> Self {
        Self::judge(&std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default())
    }

    fn judge(cgroups: &str) -> Self {
        let unit = cgroups.lines().find(|line| line.ends_with("/shopfloor.service"));
        unit.map_or(Self::Nobody, |line| if line.contains("/user@") { Self::User } else { Self::System })
    }

    /// How to restart the hub.
    pub(super) fn restart(self) -> &'static str {
        match self {
            Self::Nobody => "restart the hub: shopfloor down && shopfloor up --background",
            Self::User => "restart the hub: systemctl --user restart shopfloor",
            Self::System => "restart the hub: sudo systemctl restart shopfloor",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_the_program_says_how_it_came() {
        let of = |path: &str| Way::judge(Path::new(path), || "/.\n/usr/bin/shopfloor\n".to_owned(), false);
        assert_eq!(of("/usr/bin/shopfloor"), Way::Deb);
        assert_eq!(of("/usr/local/bin/shopfloor"), Way::Binary);
        assert_eq!(of("/home/ann/x/node_modules/@shopfloor/linux-x64/bin/shopfloor"), Way::Npm);
        assert_eq!(of("/src/shopfloor/target/release/shopfloor"), Way::Source);
        assert_eq!(Way::judge(Path::new("/usr/bin/shopfloor"), String::new, true), Way::Container);
    }

    #[test]
    fn the_cgroup_says_who_restarts_it() {
        let user = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/shopfloor.service\n";
        assert_eq!(Manager::judge(user), Manager::User);
        assert_eq!(Manager::judge("0::/system.slice/shopfloor.service\n"), Manager::System);
        assert_eq!(Manager::judge("0::/user.slice/user-1000.slice/session-2.scope\n"), Manager::Nobody);
    }
}
