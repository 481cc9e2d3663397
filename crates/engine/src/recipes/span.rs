//! Time spans as people write them: `90s`, `1h 30m`, `2d`.

use super::model::Millis;

/// The milliseconds of a span; `None` if the text is none.
pub fn span(text: &str) -> Option<Millis> {
    let mut rest = text.trim();
    let mut sum = 0u64;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let (number, after) = rest.split_at(digits);
        let letters = after.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let unit = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            "w" => 604_800_000,
            _ => return None,
        };
        sum = sum.checked_add(number.parse::<u64>().ok()?.checked_mul(unit)?)?;
        rest = after.trim_start();
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_numbers_with_units() {
        for (text, millis) in [
            ("90s", Some(90_000)),
            ("1h30m", Some(5_400_000)),
            (" 1h 30m ", Some(5_400_000)),
            ("500ms", Some(500)),
            ("2d", Some(172_800_000)),
            ("0s", Some(0)),
            ("", None),
            ("90", None),
            ("-1s", None),
            ("1.5h", None),
            ("s", None),
            ("1y", None),
            ("99999999999999999999s", None),
        ] {
            assert_eq!(span(text), millis, "{text}");
        }
    }
}
