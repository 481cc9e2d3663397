//! Points in time: milliseconds since 1970 in memory and database, RFC 3339 on the wire.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use ts_rs::TS;
use utoipa::ToSchema;

/// A point in time with millisecond precision.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, TS, ToSchema)]
#[ts(type = "string")]
#[schema(value_type = String, format = DateTime)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The last point that every part of the system can write down.
    const MAX_MILLIS: i64 = 253_402_200_000_000;

    /// From milliseconds since 1970; values outside years 0001 to 9999 are clamped.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(-Self::MAX_MILLIS / 5, Self::MAX_MILLIS))
    }

    /// Milliseconds since 1970.
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// This point moved by `millis`.
    pub fn plus_millis(self, millis: i64) -> Self {
        Self::from_millis(self.0.saturating_add(millis))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(at) => write!(f, "{at:.3}"),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse::<jiff::Timestamp>().map(|at| Self::from_millis(at.as_millisecond())).map_err(|_| {
            format!(
                "`{}` is not a time: expected RFC 3339, as 2026-01-31T12:00:00Z",
                text.chars().take(40).collect::<String>()
            )
        })
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_survives_its_text() {
        let at = Timestamp::from_millis(1_794_774_000_123);
        assert_eq!(at.to_string().parse(), Ok(at));
        assert!(at.to_string().ends_with(".123Z"), "{at}");
    }

    #[test]
    fn extremes_are_clamped_not_refused() {
        for millis in [i64::MIN, i64::MAX, 0] {
            let at = Timestamp::from_millis(millis);
            assert_eq!(at.to_string().parse(), Ok(at));
        }
    }
}
