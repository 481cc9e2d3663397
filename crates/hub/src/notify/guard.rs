//! Which addresses the hub may contact: public ones, and those that its operator allows.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Time limit of one attempt, from resolving the name to the head of the answer.
const PATIENCE: Duration = Duration::from_secs(15);
const CONNECT: Duration = Duration::from_secs(5);
/// The longest address.
const MAX_URL: usize = 2048;

/// The host is in a network that the hub does not contact.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a public address: the hub's operator can allow it with --notify-allow-host")]
pub(super) struct NotPublic(pub(super) String);

/// The clients for public and for allowed addresses.
pub(super) struct Guard {
    allowed: Vec<String>,
    public: reqwest::Client,
    open: reqwest::Client,
}

impl Guard {
    pub(super) fn new(allowed: &[String]) -> Self {
        let client = || {
            reqwest::Client::builder()
                .redirect(reqwest::redirect::Policy::none())
                .timeout(PATIENCE)
                .connect_timeout(CONNECT)
                // A proxy would resolve the name itself.
                .no_proxy()
                .pool_max_idle_per_host(0)
                .user_agent(concat!("shopfloor/", env!("CARGO_PKG_VERSION")))
        };
        let build = |builder: reqwest::ClientBuilder| builder.build().expect("the settings are consistent");
        let public = build(client().dns_resolver(std::sync::Arc::new(PublicOnly)));
        Self { allowed: allowed.iter().map(|host| host.to_lowercase()).collect(), public, open: build(client()) }
    }

    /// Reads an address; refuses what can never be contacted.
    pub(super) fn check(&self, text: &str) -> Result<Url, String> {
        if text.len() > MAX_URL {
            return Err(format!("an address has at most {MAX_URL} characters"));
        }
        let mut url = Url::parse(text.trim()).map_err(|_| "this is not an address: use https://…".to_owned())?;
        url.set_fragment(None);
        let host = url.host_str().ok_or("the address has no host")?.to_owned();
        if !url.username().is_empty() || url.password().is_some() {
            return Err("the address must not contain a user or password".to_owned());
        }
        match url.scheme() {
            "https" => {}
            "http" if self.allows(&url) => {}
            "http" => return Err(format!("use https for `{host}`, or have the hub's operator allow the host")),
            other => return Err(format!("`{other}` is not supported: use https")),
        }
        if !self.allows(&url) {
            literal(&host).map_or(Ok(()), |ip| public(ip, &host)).map_err(|error| error.to_string())?;
        }
        Ok(url)
    }

    /// The client for an address that was checked: it contacts no other network.
    pub(super) fn client(&self, url: &Url) -> &reqwest::Client {
        if self.allows(url) { &self.open } else { &self.public }
    }

    fn allows(&self, url: &Url) -> bool {
        let Some(host) = url.host_str().map(|host| host.trim_end_matches('.').to_lowercase()) else { return false };
        let with_port = url.port_or_known_default().map(|port| format!("{host}:{port}"));
        self.allowed.iter().any(|known| *known == host || Some(known) == with_port.as_ref())
    }
}

fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn public(ip: IpAddr, name: &str) -> Result<(), NotPublic> {
    if is_public(ip) { Ok(()) } else { Err(NotPublic(name.to_owned())) }
}

/// Resolves names to public addresses only; the connection goes to exactly these.
struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            for address in &found {
                public(address.ip(), &host)?;
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Whether an address is on the public internet.
pub(super) fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let special = matches!(
        (a, b, c),
        (0 | 10 | 127 | 224.., ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (198, 18 | 19, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (198, 51, 100)
            | (203, 0, 113)
    );
    !special
}

/// Only global unicast, without documentation, benchmarks, and ways to name an IPv4 address.
fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [first, second, ..] = ip.segments();
    let special =
        matches!((first, second), (0x2001, 0..=0x01ff) | (0x2001, 0x0db8) | (0x2002, _) | (0x3fff, 0..=0x0fff));
    first & 0xe000 == 0x2000 && !special
}
