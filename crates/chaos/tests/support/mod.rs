//! What both lanes need: settings from the environment, and a port for a hub that comes and goes.

use rand::Rng;
use rand::rngs::StdRng;

/// A number from the environment.
pub(crate) fn environment<T: std::str::FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// A port that nobody is given by chance while the hub is away.
pub(crate) fn free_port(random: &mut StdRng) -> u16 {
    loop {
        let port = random.random_range(20_000..30_000);
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
