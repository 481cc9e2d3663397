//! The hub's address, checked once.

use crate::ClientError;

/// A hub's address without a path, such as `http://127.0.0.1:4720`.
#[derive(Debug, Clone)]
pub(crate) struct HubUrl {
    text: String,
    host: String,
    port: u16,
}

/// Refuses an invalid address, with the reason.
pub fn check_address(text: &str) -> Result<(), ClientError> {
    HubUrl::parse(text).map(|_| ())
}

impl HubUrl {
    pub(crate) fn parse(text: &str) -> Result<Self, ClientError> {
        let refuse = |why: &str| {
            let shown: String = text.chars().take(200).collect();
            ClientError::Protocol(format!("`{shown}` is not a hub's address: {why}"))
        };
        let url = reqwest::Url::parse(text.trim()).map_err(|error| match text.contains("://") {
            true => refuse(&error.to_string()),
            false => refuse("it must start with http:// or https://"),
        })?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refuse("it must start with http:// or https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refuse("it must not contain a user name or password"));
        }
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(refuse("it has no host"));
        };
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            return Err(refuse("give only scheme, host and port, such as http://127.0.0.1:4720"));
        }
        let host = host.trim_matches(['[', ']']).to_owned();
        Ok(Self { text: url.origin().ascii_serialization(), host, port })
    }

    /// Scheme, host and port, without a slash at the end.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the hub is on this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    pub(crate) fn address(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    /// The address of the socket at `path`.
    pub(crate) fn socket(&self, path: &str) -> String {
        // `http` becomes `ws` and `https` becomes `wss`.
        format!("ws{}{path}", &self.text["http".len()..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_normalised() {
        let check = |text: &str, plain: &str, socket: &str, loopback: bool| {
            let url = HubUrl::parse(text).unwrap();
            assert_eq!((url.as_str(), url.socket("/api/ws").as_str(), url.is_loopback()), (plain, socket, loopback));
        };
        check("http://127.0.0.1:4720/", "http://127.0.0.1:4720", "ws://127.0.0.1:4720/api/ws", true);
        check("http://localhost:1", "http://localhost:1", "ws://localhost:1/api/ws", true);
        check("http://[::1]:4720", "http://[::1]:4720", "ws://[::1]:4720/api/ws", true);
        check("https://hub.example", "https://hub.example", "wss://hub.example/api/ws", false);
    }

    #[test]
    fn invalid_addresses_are_refused_with_a_reason() {
        for bad in
            ["", "127.0.0.1:4720", "ftp://h", "http://", "http://h/path", "http://u:p@h", "http://h?x", "http://h#x"]
        {
            let error = HubUrl::parse(bad).unwrap_err().to_string();
            assert!(error.contains("is not a hub's address"), "{bad}: {error}");
        }
        for bad in ["notaurl", "127.0.0.1:4720", "localhost:4720"] {
            let error = check_address(bad).unwrap_err().to_string();
            assert!(error.contains("it must start with http:// or https://"), "{bad}: {error}");
        }
    }
}
