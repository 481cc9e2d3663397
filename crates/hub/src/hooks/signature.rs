//! Signatures of webhooks: HMAC-SHA256 over the bytes as they came, compared in constant time.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::HookKind;
use hmac::{Hmac, Mac};
use http::HeaderMap;
use sha2::Sha256;

/// How far the time of a signature may be from now.
pub(crate) const TOLERANCE_SECONDS: i64 = 300;
/// How many signatures one message may carry, for rotation on the other side.
const MOST: usize = 10;

/// The signed parts of a message, before anything of it is trusted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Signed {
    /// The service's id of the delivery.
    pub(crate) delivery: String,
    /// The time that is part of what is signed.
    pub(crate) at_seconds: Option<i64>,
    /// What comes before the body in what is signed.
    before: String,
    signatures: Vec<[u8; 32]>,
}

impl Signed {
    /// Reads the headers of a message; `Err` says what is missing.
    pub(crate) fn read(kind: HookKind, headers: &HeaderMap) -> Result<Self, &'static str> {
        match kind {
            HookKind::Github => {
                let signature = one(headers, "x-hub-signature-256").ok_or("send one `X-Hub-Signature-256`")?;
                let signature = github(signature).ok_or("`X-Hub-Signature-256` is not `sha256=` and 64 hex digits")?;
                let delivery = one(headers, "x-github-delivery").ok_or("send one `X-GitHub-Delivery`")?;
                let (delivery, before) = (delivery.to_owned(), String::new());
                Ok(Self { delivery, at_seconds: None, before, signatures: vec![signature] })
            }
            HookKind::Standard => {
                let delivery = one(headers, "webhook-id").ok_or("send one `webhook-id`")?;
                let time = one(headers, "webhook-timestamp").ok_or("send one `webhook-timestamp`")?;
                let at = time.parse().map_err(|_| "`webhook-timestamp` is not a number of seconds")?;
                let signatures = one(headers, "webhook-signature").ok_or("send one `webhook-signature`")?;
                let signatures: Vec<_> = signatures.split(' ').take(MOST).filter_map(standard).collect();
                if signatures.is_empty() {
                    return Err("`webhook-signature` has no `v1,` signature");
                }
                let before = format!("{delivery}.{time}.");
                Ok(Self { delivery: delivery.to_owned(), at_seconds: Some(at), before, signatures })
            }
        }
    }

    /// Whether one of the signatures was made with this secret.
    pub(crate) fn is_of(&self, kind: HookKind, secret: &str, body: &[u8]) -> bool {
        let key = match kind {
            HookKind::Github => secret.as_bytes().to_vec(),
            HookKind::Standard => match STANDARD.decode(secret.trim_start_matches("whsec_")) {
                Ok(key) => key,
                Err(_) => return false,
            },
        };
        let Ok(mac) = Hmac::<Sha256>::new_from_slice(&key) else { return false };
        let mac = mac.chain_update(self.before.as_bytes()).chain_update(body);
        // All are compared: the time does not tell which one was right.
        self.signatures.iter().map(|signature| mac.clone().verify_slice(signature).is_ok()).fold(false, |a, b| a | b)
    }
}

/// A header that occurs once.
fn one<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    (values.next().is_none() && !value.is_empty()).then_some(value)
}

/// `sha256=` and lower-case digits, as GitHub writes it, and nothing else.
fn github(text: &str) -> Option<[u8; 32]> {
    let digits = text.strip_prefix("sha256=")?;
    let mut bytes = [0; 32];
    let lower = digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    (lower && hex::decode_to_slice(digits, &mut bytes).is_ok()).then_some(bytes)
}

fn standard(text: &str) -> Option<[u8; 32]> {
    STANDARD.decode(text.strip_prefix("v1,")?).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| ((*name).parse().unwrap(), HeaderValue::from_str(value).unwrap())).collect()
    }

    /// The example of GitHub's documentation.
    const SIGNATURE: &str = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    const SECRET: &str = "It's a Secret to Everybody";

    fn by_github(signature: &str) -> Result<Signed, &'static str> {
        Signed::read(HookKind::Github, &headers(&[("x-hub-signature-256", signature), ("x-github-delivery", "1")]))
    }

    #[test]
    fn the_example_of_github_is_right_and_changed_ones_are_wrong() {
        let signed = by_github(SIGNATURE).unwrap();
        assert!(signed.is_of(HookKind::Github, SECRET, b"Hello, World!"));
        assert!(!signed.is_of(HookKind::Github, SECRET, b"Hello, world!"));
        assert!(!signed.is_of(HookKind::Github, "It's a secret to everybody", b"Hello, World!"));
        for at in 7..SIGNATURE.len() {
            let mut other = SIGNATURE.as_bytes().to_vec();
            other[at] = if other[at] == b'0' { b'1' } else { b'0' };
            let other = by_github(std::str::from_utf8(&other).unwrap()).unwrap();
            assert!(!other.is_of(HookKind::Github, SECRET, b"Hello, World!"), "digit {at} changed");
        }
    }

    #[test]
    fn other_forms_of_signatures_are_refused() {
        let upper = SIGNATURE[7..].to_uppercase();
        let bad = [
            "",
            "sha256=",
            &SIGNATURE[7..],
            &SIGNATURE[..70],
            &format!("{SIGNATURE}0"),
            &format!("sha256={upper}"),
            &format!("sha1={}", &SIGNATURE[7..]),
            &format!("SHA256={}", &SIGNATURE[7..]),
            &format!("sha256= {}", &SIGNATURE[7..70]),
        ];
        for signature in bad {
            assert!(by_github(signature).is_err(), "{signature}");
        }
        assert!(Signed::read(HookKind::Github, &HeaderMap::new()).is_err());
        let mut twice = headers(&[("x-hub-signature-256", SIGNATURE), ("x-github-delivery", "1")]);
        twice.append("x-hub-signature-256", HeaderValue::from_static(SIGNATURE));
        assert!(Signed::read(HookKind::Github, &twice).is_err(), "two signatures");
    }

    #[test]
    fn standard_webhooks_are_what_their_crate_signs() {
        let (secret, body) = (super::super::secret(HookKind::Standard), b"{\"type\":\"paid\"}");
        let right = standardwebhooks::Webhook::new(&secret).unwrap().sign("msg_1", 1_700_000_000, body).unwrap();
        let read = |id: &str, time: &str, signature: &str| {
            let pairs = [("webhook-id", id), ("webhook-timestamp", time), ("webhook-signature", signature)];
            Signed::read(HookKind::Standard, &headers(&pairs))
        };
        let several = format!("v1a,xyz v1,AAAA {right}");
        for signature in [right.as_str(), several.as_str()] {
            let signed = read("msg_1", "1700000000", signature).unwrap();
            assert!(signed.is_of(HookKind::Standard, &secret, body));
            assert!(!signed.is_of(HookKind::Standard, &super::super::secret(HookKind::Standard), body));
            assert!(!signed.is_of(HookKind::Standard, &secret, b"{\"type\":\"free\"}"));
        }
        assert!(!read("msg_2", "1700000000", &right).unwrap().is_of(HookKind::Standard, &secret, body));
        assert!(!read("msg_1", "1700000001", &right).unwrap().is_of(HookKind::Standard, &secret, body));
        for (time, signature) in [("soon", right.as_str()), ("1700000000", "v1,AAAA"), ("1700000000", "v2,AAAA")] {
            assert!(read("msg_1", time, signature).is_err());
        }
    }
}
