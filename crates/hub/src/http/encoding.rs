//! Chooses the encoding of a response from `Accept-Encoding`; knows nothing about files.

/// A form in which the page can be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Brotli, the smallest.
    Brotli,
    /// gzip.
    Gzip,
    /// As it is.
    Identity,
}

impl Encoding {
    /// The value of `Content-Encoding`; `None` for the plain form.
    pub(crate) fn word(self) -> Option<&'static str> {
        match self {
            Self::Brotli => Some("br"),
            Self::Gzip => Some("gzip"),
            Self::Identity => None,
        }
    }
}

/// The best encoding that the client accepts (RFC 9110, 12.5.3): the highest weight, and of equal weights the smallest
/// form. A client that names none, or refuses all, gets the plain form.
pub(crate) fn negotiate(accept: Option<&str>) -> Encoding {
    let Some(accept) = accept else { return Encoding::Identity };
    let offers: Vec<(String, u16)> = accept.split(',').filter_map(offer).collect();
    let weight = |names: &[&str]| {
        let named = offers.iter().find(|(name, _)| names.contains(&name.as_str()));
        named.or_else(|| offers.iter().find(|(name, _)| name == "*")).map_or(0, |(_, weight)| *weight)
    };
    let (brotli, gzip) = (weight(&["br"]), weight(&["gzip", "x-gzip"]));
    // Unless it is refused, the plain form is acceptable, but a client that accepts others prefers them.
    let plain = offers.iter().find(|(name, _)| name == "identity").map_or(0, |(_, weight)| *weight);
    match (brotli, gzip) {
        (brotli, gzip) if brotli > 0 && brotli >= gzip && brotli >= plain => Encoding::Brotli,
        (_, gzip) if gzip > 0 && gzip >= plain => Encoding::Gzip,
        _ => Encoding::Identity,
    }
}

/// One element with its weight in thousandths; `None` if it is empty or its weight is malformed.
fn offer(element: &str) -> Option<(String, u16)> {
    let mut parts = element.split(';').map(str::trim);
    let name = parts.next().filter(|name| !name.is_empty())?.to_ascii_lowercase();
    let mut weight = 1_000;
    for parameter in parts {
        let (key, value) = parameter.split_once('=')?;
        if key.trim().eq_ignore_ascii_case("q") {
            let value: f32 = value.trim().parse().ok().filter(|value| (0.0..=1.0).contains(value))?;
            weight = (value * 1_000.0) as u16;
        }
    }
    Some((name, weight))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(accept: &str, expected: Encoding) {
        assert_eq!(negotiate(Some(accept)), expected, "{accept}");
    }

    #[test]
    fn the_smallest_accepted_form_wins() {
        check("gzip, deflate, br, zstd", Encoding::Brotli);
        check("gzip", Encoding::Gzip);
        check("x-gzip", Encoding::Gzip);
        check("GZIP;Q=0.5", Encoding::Gzip);
        check("*", Encoding::Brotli);
        check("br;q=0.2, gzip;q=0.8", Encoding::Gzip);
    }

    #[test]
    fn an_encoding_with_weight_zero_is_refused() {
        check("br;q=0, gzip", Encoding::Gzip);
        check("br;q=0, gzip;q=0.0", Encoding::Identity);
        check("*;q=0", Encoding::Identity);
        check("br;q=0, *", Encoding::Gzip);
        check("gzip;q=0, *;q=0.5", Encoding::Brotli);
        check("identity;q=0, *;q=0", Encoding::Identity);
    }

    #[test]
    fn a_client_that_accepts_no_known_encoding_gets_identity() {
        assert_eq!(negotiate(None), Encoding::Identity);
        for accept in ["", ",,", "identity", "deflate", "identity, gzip;q=0.5", "zstd;q=1"] {
            check(accept, Encoding::Identity);
        }
    }

    #[test]
    fn malformed_weights_are_ignored() {
        for accept in ["br;q", "br;q=2", "br;q=NaN", "br;q=-1", "br;q=x", ";q=1", "br;;"] {
            check(accept, Encoding::Identity);
        }
        check("br;q=2, gzip", Encoding::Gzip);
    }
}
