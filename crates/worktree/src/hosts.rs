//! Which hosts a repository may be on: other people choose the location, and it must not reach into this network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::git::Reach;
use crate::location::{Location, Scheme};
use crate::{Error, Options, Result};

/// What git may reach for this location, after its host was resolved and checked.
pub(crate) async fn reach(location: &Location, options: &Options) -> Result<Reach> {
    let Some((scheme, host, port)) = location.remote() else { return Ok(Reach::Files) };
    let (ssh, helpers) = (options.ssh, options.helpers.clone());
    let plain = Reach::Network { ssh, helpers: helpers.clone(), pin: None };
    if options.private_hosts {
        return Ok(plain);
    }
    let refuse = |why: String| Error::Host { location: location.to_string(), why };
    let number = port.unwrap_or(match scheme {
        Scheme::Https => 443,
        Scheme::Ssh => 22,
    });
    let name = host.trim_start_matches('[').trim_end_matches(']');
    let found = match name.parse::<IpAddr>() {
        Ok(ip) => vec![ip],
        Err(_) => match tokio::net::lookup_host((name, number)).await {
            Ok(found) => found.map(|address| address.ip()).collect(),
            // The owner's ssh configuration may know a name that the resolver does not.
            Err(_) if scheme == Scheme::Ssh && ssh => return Ok(plain),
            Err(error) => return Err(refuse(format!("its name cannot be resolved ({error})"))),
        },
    };
    if let Some(ip) = found.iter().find(|ip| private(**ip)) {
        return Err(refuse(format!(
            "{ip} is in a private network; the runner's owner can allow such hosts with `private_hosts = true` in its \
             config.toml"
        )));
    }
    // The name must not resolve to another address when git asks again.
    let pin = match scheme {
        Scheme::Https => found.first().map(|ip| match ip {
            IpAddr::V4(ip) => format!("{name}:{number}:{ip}"),
            IpAddr::V6(ip) => format!("{name}:{number}:[{ip}]"),
        }),
        Scheme::Ssh => None,
    };
    Ok(Reach::Network { ssh, helpers, pin })
}

fn private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => private_v4(ip),
        IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
            Some(ip) => private_v4(ip),
            None => private_v6(ip),
        },
    }
}

fn private_v4(ip: Ipv4Addr) -> bool {
    let [a, b, ..] = ip.octets();
    ip.is_loopback()
        || ip.is_private()
        || ip.is_link_local()
        || ip.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && ip.octets()[2] == 0)
        || (a == 198 && (18..20).contains(&b))
}

fn private_v6(ip: Ipv6Addr) -> bool {
    let first = ip.segments()[0];
    ip.is_loopback()
        || ip.is_unspecified()
        || ip.is_multicast()
        || first & 0xfe00 == 0xfc00
        || first & 0xffc0 == 0xfe80
        // Forms that carry an IPv4 address: translated, 6to4, compatible.
        || first == 0x0064
        || first == 0x2002
        || ip.segments()[..6] == [0; 6]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_network_are_private() {
        for ip in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "::1",
            "::",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "ff02::1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "198.18.0.1",
            "192.0.0.1",
        ] {
            assert!(private(ip.parse().unwrap()), "{ip}");
        }
        for ip in ["1.1.1.1", "140.82.121.3", "172.32.0.1", "100.128.0.1", "2606:4700::1", "192.0.2.1"] {
            assert!(!private(ip.parse().unwrap()), "{ip}");
        }
    }
}
