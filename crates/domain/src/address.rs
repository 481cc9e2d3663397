//! Addresses of repositories: whether they contain a credential.

/// Whether a repository's location contains a password or token. The user of an ssh address (`git@host:path`) does not
/// count; the part before the host of an https address is a token as often as a name, and git needs neither.
pub fn has_credentials(location: &str) -> bool {
    let location = location.trim();
    if location.starts_with(['/', '~', '.']) {
        return false;
    }
    let (scheme, rest) = location.split_once("://").unwrap_or(("", location));
    if !scheme.is_empty() && rest.contains(['?', '#']) {
        return true;
    }
    let (authority, path) = rest.split_once(['/', '\\']).unwrap_or((rest, ""));
    match authority.rsplit_once('@') {
        Some((user, _)) => {
            let ssh = scheme.is_empty() || scheme.to_ascii_lowercase().contains("ssh");
            !ssh || user.contains([':', '%'])
        }
        // `https:/user:password@host` is not an address, but some programs accept it.
        None => scheme.is_empty() && authority.ends_with(':') && path.contains('@'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_password_is_found_and_addresses_without_one_pass() {
        for location in [
            "https://ann:hunter2@host.test/x.git",
            "https://ghp_0123456789@github.com/a/b",
            "HTTPS://token@host.test/x",
            "https://ann%3Ahunter2@host.test/x",
            "https://x-access-token:ghs_1@github.com/a/b.git",
            "https://@host.test/x@y",
            "ssh://ann:hunter2@host.test/x",
            "git+ssh://ann:hunter2@host.test:22/x",
            "ssh://ann%3Ahunter2@host.test/x",
            "ann:hunter2@host.test:x/y.git",
            "https:/ann:hunter2@host.test/x",
            "https:\\\\ann:hunter2@host.test\\x",
            " https://ann:hunter2@host.test/x",
            "https://host.test/x?private_token=1",
            "https://host.test/x#token=1",
        ] {
            assert!(has_credentials(location), "{location}");
        }
        for location in [
            "https://host.test:8443/a/b.git",
            "https://host.test/~ann/a@b",
            "ssh://git@host.test:2222/~ann/b.git",
            "ssh://host.test/x",
            "git@github.com:a/b.git",
            "ann@host.test:src/a@b",
            "/home/ann:x@y/repository",
            "~/work@home",
            "./here:x@y",
        ] {
            assert!(!has_credentials(location), "{location}");
        }
    }
}
