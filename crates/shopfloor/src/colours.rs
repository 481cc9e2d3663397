//! The colours of workers, the same as on the page.

use std::sync::OnceLock;

/// The first four are the product's own; the others rotate the hue at about the same lightness and chroma.
const WORKERS: [(u8, u8, u8); 12] = [
    (0x63, 0x66, 0xf1),
    (0x10, 0xb9, 0x81),
    (0xf5, 0x9e, 0x0b),
    (0xf4, 0x3f, 0x5e),
    (0xb4, 0x74, 0xf4),
    (0x09, 0xac, 0xba),
    (0x72, 0xad, 0x0c),
    (0xf3, 0x68, 0x0f),
    (0xdc, 0x63, 0xc6),
    (0x16, 0xa4, 0xe2),
    (0xa6, 0x9c, 0x13),
    (0x16, 0xb0, 0x9b),
];

/// The escape sequence for a worker's colour.
pub(crate) fn worker(place: u32) -> String {
    static EXACT: OnceLock<bool> = OnceLock::new();
    let exact = EXACT.get_or_init(|| std::env::var("COLORTERM").is_ok_and(|has| has == "truecolor" || has == "24bit"));
    code(place, *exact)
}

fn code(place: u32, exact: bool) -> String {
    let (red, green, blue) = WORKERS[place as usize % WORKERS.len()];
    if exact {
        return format!("38;2;{red};{green};{blue}");
    }
    // The 6 × 6 × 6 colour cube that nearly every terminal has.
    let step = |part: u8| match part {
        0..48 => 0,
        48..115 => 1,
        _ => u32::from(part - 35) / 40,
    };
    format!("38;5;{}", 16 + 36 * step(red) + 6 * step(green) + step(blue))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_has_its_colour_wherever_it_is_shown() {
        assert_eq!(code(0, true), "38;2;99;102;241");
        assert_eq!(code(12, true), code(0, true));
        assert_eq!(code(2, false), "38;5;214", "the nearest colour of a simpler terminal");
    }

    #[test]
    fn the_page_has_the_same_colours() {
        let page = include_str!("../../../web/src/state/colours.ts");
        let hex = WORKERS.map(|(red, green, blue)| format!("accent: \"#{red:02x}{green:02x}{blue:02x}\""));
        let places: Vec<Option<usize>> = hex.iter().map(|colour| page.find(colour.as_str())).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
    }
}
