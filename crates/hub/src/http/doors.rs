//! The names of a hub: URL, hosts, origins, cookie.

use std::net::{IpAddr, SocketAddr};

use axum::http::Uri;

use crate::options::Options;

/// The names of a hub.
#[derive(Debug, Clone)]
pub(crate) struct Doors {
    url: String,
    hosts: Vec<String>,
    origins: Vec<String>,
    secure: bool,
    behind_proxy: bool,
    port: u16,
}

/// Why a hub must not listen like that.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DoorError {
    /// Anybody on the network could read the traffic.
    #[error(
        "refusing to listen on {0}, which others can reach, without TLS: give --tls-cert and --tls-key, \
         or --behind-proxy with a proxy that does TLS, or listen on 127.0.0.1"
    )]
    Exposed(SocketAddr),
    /// Links and checks need the name that people use.
    #[error("listening on {0} needs --public-url: the address that people type, as https://floor.example.com")]
    Nameless(SocketAddr),
    /// Not a valid URL for a hub.
    #[error("`{0}` is not a public URL: expected https://NAME or http://NAME, without a path")]
    Url(String),
}

impl Doors {
    /// The names that follow from the options; `bound` is the listening address.
    pub(crate) fn new(options: &Options, bound: SocketAddr) -> Result<Self, DoorError> {
        check(options)?;
        let scheme = if options.tls.is_some() { "https" } else { "http" };
        let port = bound.port();
        let mut hosts = options.allow_hosts.clone();
        if bound.ip().is_loopback() {
            hosts.extend([format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")]);
        }
        let mut origins = options.allow_origins.clone();
        origins.extend(hosts.iter().map(|host| format!("{scheme}://{host}")));
        let url = match &options.public_url {
            Some(url) => {
                let (origin, host) = public(url)?;
                hosts.push(host);
                origins.push(origin.clone());
                origin
            }
            None => format!("{scheme}://{bound}"),
        };
        let secure = url.starts_with("https://");
        let hosts = hosts.iter().map(|host| normal(host)).collect();
        Ok(Self { url, hosts, origins, secure, behind_proxy: options.behind_proxy, port })
    }

    /// The address that people use.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// A link with a secret in its fragment, which browsers do not send.
    pub(crate) fn link(&self, page: &str, secret: &str) -> String {
        format!("{}/{page}#{secret}", self.url)
    }

    /// Every accepted `Host`.
    pub(crate) fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Every accepted `Origin`.
    pub(crate) fn origins(&self) -> &[String] {
        &self.origins
    }

    /// Whether a `Host` is accepted.
    pub(crate) fn knows_host(&self, host: &str) -> bool {
        let host = normal(host);
        self.hosts.contains(&host)
    }

    /// Whether an `Origin` is accepted; compared exactly.
    pub(crate) fn knows_origin(&self, origin: &str) -> bool {
        self.origins.iter().any(|known| known == origin)
    }

    /// The login cookie's name. Cookies ignore ports: the port keeps two hubs on one machine apart.
    pub(crate) fn cookie_name(&self) -> String {
        if self.secure { "__Host-shopfloor".to_owned() } else { format!("shopfloor_{}", self.port) }
    }

    /// Whether cookies require TLS.
    pub(crate) fn secure(&self) -> bool {
        self.secure
    }

    /// A request's client address: the peer, or the one that our proxy names.
    pub(crate) fn address(&self, peer: IpAddr, forwarded: Option<&str>) -> IpAddr {
        if !self.behind_proxy {
            return peer;
        }
        // The last entry is our own proxy's.
        forwarded.and_then(|list| list.rsplit(',').next()).and_then(|last| last.trim().parse().ok()).unwrap_or(peer)
    }
}

/// Refuses to be reachable by others without TLS or a name.
pub(crate) fn check(options: &Options) -> Result<(), DoorError> {
    if options.listen.ip().is_loopback() {
        return Ok(());
    }
    if options.tls.is_none() && !options.behind_proxy {
        return Err(DoorError::Exposed(options.listen));
    }
    if options.public_url.is_none() {
        return Err(DoorError::Nameless(options.listen));
    }
    Ok(())
}

fn public(url: &str) -> Result<(String, String), DoorError> {
    let refuse = || DoorError::Url(url.to_owned());
    let parsed: Uri = url.trim_end_matches('/').parse().map_err(|_| refuse())?;
    let scheme = parsed.scheme_str().filter(|scheme| ["http", "https"].contains(scheme)).ok_or_else(refuse)?;
    let host = parsed.authority().ok_or_else(refuse)?.as_str().to_ascii_lowercase();
    if !["", "/"].contains(&parsed.path()) || parsed.query().is_some() || host.contains('@') {
        return Err(refuse());
    }
    Ok((format!("{scheme}://{host}"), host))
}

/// Host names ignore case and a trailing dot.
fn normal(host: &str) -> String {
    let host = host.to_ascii_lowercase();
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{}:{port}", name.trim_end_matches('.'))
        }
        _ => host.trim_end_matches('.').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(listen: &str) -> Options {
        Options { listen: listen.parse().unwrap(), ..Options::new("unused".into()) }
    }

    #[test]
    fn others_reach_a_hub_only_through_tls_or_a_proxy_and_by_name() {
        let open = options("0.0.0.0:80");
        assert!(matches!(check(&open), Err(DoorError::Exposed(_))));
        let proxied = Options { behind_proxy: true, ..open.clone() };
        assert!(matches!(check(&proxied), Err(DoorError::Nameless(_))));
        let named = Options { public_url: Some("https://floor.example.com".into()), ..proxied };
        assert_eq!(check(&named), Ok(()));
        assert_eq!(check(&options("127.0.0.1:0")), Ok(()));
    }

    #[test]
    fn hosts_and_origins_are_exact() {
        let doors = Doors::new(&options("127.0.0.1:4720"), "127.0.0.1:4720".parse().unwrap()).unwrap();
        for host in ["127.0.0.1:4720", "localhost:4720", "LOCALHOST:4720", "localhost.:4720", "[::1]:4720"] {
            assert!(doors.knows_host(host), "{host}");
        }
        for host in
            ["localhost", "localhost:80", "attacker.test:4720", "", "127.0.0.1:4720.evil", "localhost.evil:4720"]
        {
            assert!(!doors.knows_host(host), "{host}");
        }
        assert!(doors.knows_origin("http://localhost:4720"));
        for origin in
            ["https://localhost:4720", "http://localhost", "null", "http://LOCALHOST:4720", "http://localhost.:4720"]
        {
            assert!(!doors.knows_origin(origin), "{origin}");
        }
    }

    #[test]
    fn a_public_url_is_an_origin() {
        let named = |url: &str| Options { public_url: Some(url.into()), ..options("127.0.0.1:1") };
        let bound = "127.0.0.1:1".parse().unwrap();
        let doors = Doors::new(&named("https://Floor.example.com/"), bound).unwrap();
        assert_eq!(doors.url(), "https://floor.example.com");
        assert!(doors.knows_origin("https://floor.example.com") && doors.knows_host("floor.example.com"));
        assert_eq!(doors.cookie_name(), "__Host-shopfloor");
        for bad in ["floor", "ftp://x", "https://x/path", "https://user@x", "https://x?y"] {
            assert!(Doors::new(&named(bad), bound).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_a_proxy_may_name_another_address() {
        let peer: IpAddr = "127.0.0.1".parse().unwrap();
        let bound = "127.0.0.1:1".parse().unwrap();
        let plain = Doors::new(&options("127.0.0.1:1"), bound).unwrap();
        assert_eq!(plain.address(peer, Some("9.9.9.9")), peer);
        let proxied = Doors::new(&Options { behind_proxy: true, ..options("127.0.0.1:1") }, bound).unwrap();
        assert_eq!(proxied.address(peer, Some("1.1.1.1, 9.9.9.9")).to_string(), "9.9.9.9");
        assert_eq!(proxied.address(peer, Some("nonsense")), peer);
    }
}
