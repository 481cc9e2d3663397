//! Streams for the fidelity tests: captures of real programs, and what is made up here.
#![allow(dead_code, clippy::unwrap_used)]

use std::path::Path;

/// What a program wrote, and when its terminal was resized.
pub(crate) struct Stream {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    /// Positions with the new size.
    pub(crate) resizes: Vec<(usize, u16, u16)>,
}

/// Numbers that look random and are the same each time.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most.max(1)
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

pub(crate) fn all() -> Vec<Stream> {
    let mut streams = captures();
    for (name, make) in MADE {
        let mut numbers = Numbers(7);
        let mut text = String::new();
        while text.len() < 40_000 {
            make(&mut numbers, &mut text);
        }
        streams.push(Stream { name: (*name).to_owned(), bytes: text.into_bytes(), resizes: Vec::new() });
    }
    streams.push(resize_storm("resize-storm", "agent"));
    streams.push(resize_storm("resize-storm-full-screen", "monitor"));
    streams
}

fn captures() -> Vec<Stream> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut paths: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "zst"));
    paths.sort();
    paths
        .into_iter()
        .map(|path| Stream {
            name: path.file_name().unwrap().to_str().unwrap().trim_end_matches(".bin.zst").to_owned(),
            bytes: zstd::decode_all(std::fs::File::open(&path).unwrap()).unwrap(),
            resizes: Vec::new(),
        })
        .collect()
}

fn resize_storm(name: &str, of: &str) -> Stream {
    let make = MADE.iter().find(|(made, _)| *made == of).unwrap().1;
    let (mut numbers, mut text, mut resizes) = (Numbers(11), String::new(), Vec::new());
    for _ in 0..30 {
        make(&mut numbers, &mut text);
        resizes.push((text.len(), 20 + numbers.below(140) as u16, 5 + numbers.below(45) as u16));
    }
    make(&mut numbers, &mut text);
    Stream { name: name.to_owned(), bytes: text.into_bytes(), resizes }
}

const WORDS: [&str; 10] =
    ["Compiling", "warning", "error", "note", "fresh", "crate", "module", "async", "release", "target"];

type Make = fn(&mut Numbers, &mut String);

const MADE: &[(&str, Make)] = &[
    ("build-log", |n, out| {
        *out += &format!(
            "\x1b[1;32m{:>12}\x1b[0m {}{} v{}.{} \x1b[38;5;{}m({})\x1b[0m \x1b[38;2;{};{};200m{}\x1b[0m\r\n",
            n.of(&WORDS),
            n.of(&WORDS),
            n.below(999),
            n.below(9),
            n.below(99),
            16 + n.below(200),
            n.of(&WORDS),
            n.below(255),
            n.below(255),
            "=".repeat(5 + n.below(90))
        );
    }),
    ("agent", |n, out| {
        if out.is_empty() {
            *out += "\x1b[?2004h\x1b[?25l\x1b[?1004h\x1b]0;✳ agent task\x07";
            *out += &"\r\n".repeat(10);
        }
        *out += "\x1b[?2026h";
        *out += &"\x1b[2K\x1b[1A".repeat(9);
        *out += "\x1b[2K\x1b[G";
        if n.below(5) == 0 {
            *out += &format!(
                "\x1b[38;5;208m●\x1b[39m \x1b[1mBash\x1b[22m({}) ✅ \r\n  \x1b[2m⎿  {}\x1b[22m\r\n\r\n",
                n.of(&WORDS),
                n.of(&WORDS)
            );
        }
        *out += &format!(
            "\x1b[38;5;174m{} Thinking…\x1b[39m \x1b[2m({}s · ↑ {}k tokens)\x1b[22m\r\n\r\n",
            n.of(&["⠋", "⠙", "⠹"]),
            n.below(99),
            n.below(99)
        );
        *out += &format!("\x1b[38;5;244m╭{}╮\x1b[39m\r\n", "─".repeat(60));
        for _ in 0..4 {
            *out += &format!(
                "\x1b[38;5;244m│\x1b[39m \x1b[{}m{:<58}\x1b[0m \x1b[38;5;244m│\x1b[39m\r\n",
                n.of(&["31", "1", "3", "4", "4:3", "9"]),
                n.of(&WORDS)
            );
        }
        *out += &format!("\x1b[38;5;244m╰{}╯\x1b[39m\r\n  \x1b[2m? for shortcuts\x1b[22m\x1b[?2026l", "─".repeat(60));
    }),
    ("monitor", |n, out| {
        if out.is_empty() {
            *out += "$ monitor\r\n\x1b[?1049h\x1b[?1h\x1b=\x1b[?1000h\x1b[?1006h";
        }
        *out += "\x1b[H";
        for row in 1..=32 {
            *out += &format!(
                "\x1b[{row};1H\x1b[{}m{:>7} {:<12} {:>3}% {}\x1b[0m\x1b[K",
                n.of(&["0", "7", "1;34", "32", "48;5;236"]),
                n.below(99_999),
                n.of(&WORDS),
                n.below(100),
                "|".repeat(n.below(40))
            );
        }
        if n.below(6) == 0 {
            *out += "\x1b[?1049lback on the shell\r\n\x1b[?1049h";
        }
    }),
    ("wide", |n, out| {
        for _ in 0..n.below(40) {
            *out += n.of(&[
                "漢",
                "字",
                "か",
                "な",
                "한",
                "국",
                "ｆ",
                "a",
                " ",
                "é",
                "e\u{301}",
                "o\u{308}\u{323}",
                "½",
                "│",
            ]);
        }
        *out += n.of(&[
            "\r\n",
            "\r",
            "\x1b[3D",
            "\x1b[2P",
            "\x1b[3@",
            "\x1b[4X",
            "\x08\x08x",
            "\x1b[K",
            "\x1b[5G漢",
            "\x1b[1K",
        ]);
    }),
    ("emoji", |n, out| {
        for _ in 0..n.below(20) {
            *out += n.of(&[
                "✅",
                "❌",
                "🚀",
                "👩\u{200d}💻",
                "🇩🇪",
                "❤\u{fe0f}",
                "⚡",
                "🤖",
                "👍🏽",
                "word",
                " ",
                "🏳\u{fe0f}\u{200d}🌈",
            ]);
        }
        *out += n.of(&["\r\n", "\r\n", "\x1b[2D", "\x1b[7mx\x1b[0m"]);
    }),
    ("true-colour", |n, out| {
        for column in 0..60 {
            *out += &format!(
                "\x1b[38;2;{};{};{}m\x1b[48;2;{};{};{}m▀",
                n.below(255),
                column * 4,
                n.below(255),
                column * 2,
                n.below(255),
                n.below(9)
            );
        }
        *out += "\x1b[0m\r\n";
    }),
    ("styles", |n, out| {
        *out += &format!(
            "\x1b[{}m{} ",
            n.of(&[
                "0",
                "1",
                "2",
                "3",
                "4",
                "4:2",
                "4:3",
                "4:4",
                "4:5",
                "5",
                "7",
                "8",
                "9",
                "21",
                "22",
                "23",
                "24",
                "25",
                "27",
                "28",
                "29",
                "58:2::9:99:199",
                "58:5:77",
                "59",
                "91",
                "104",
                "39",
                "49",
                "33;44"
            ]),
            n.of(&WORDS)
        );
        if n.below(12) == 0 {
            *out += n.of(&["\r\n", "\x1b[K\r\n", "\x1b]8;;https://example.org/a\x1b\\link\x1b]8;;\x1b\\"]);
        }
    }),
    ("synchronized", |n, out| {
        *out += &format!(
            "\x1b[?2026h\x1b[{};{}H{}\x1b[J{}\x1b[?2026l",
            1 + n.below(30),
            1 + n.below(100),
            n.of(&WORDS),
            "x".repeat(n.below(50))
        );
    }),
    ("regions", |n, out| {
        let top = 1 + n.below(15);
        *out += &format!("\x1b[{top};{}r\x1b[{};{}H", top + 2 + n.below(14), 1 + n.below(32), 1 + n.below(118));
        for _ in 0..n.below(12) {
            *out += n.of(&[
                "\n",
                "\x1bM",
                "\x1bD",
                "\x1bE",
                "\x1b[2L",
                "\x1b[M",
                "\x1b[S",
                "\x1b[2T",
                "line of text",
                "\r",
                "\x1b[42m",
                "\x1b[0m",
                "\x1b[3A",
                "\x1b[2B",
                "\x1b[J",
                "\x1b[1J",
            ]);
        }
        if n.below(4) == 0 {
            *out += "\x1b[r";
        }
    }),
    ("charsets", |n, out| {
        *out += n.of(&[
            "\x1b(0", "\x1b(B", "\x1b)0", "\x0e", "\x0f", "lqqqk", "x   x", "mqqqj", "text ", "\r\n", "\x1b[4h",
            "\x1b[4l", "\x1b[10G",
        ]);
    }),
    ("tabs", |n, out| {
        *out += n.of(&[
            "\t", "a", "\t\t", "\x1b[3g", "\x1bH", "\x1b[g", "\x1b[2I", "\x1b[Z", "\r", "\r\n", "\x1b[17G", "word",
        ]);
    }),
    // Without `CSI 1 J`: in the last cell of the screen it makes xterm.js 6.0 throw.
    ("wrapping", |n, out| {
        *out += &n.of(&WORDS).repeat(n.below(30));
        *out += n.of(&[
            "\r\n", "\r", "\n", "\x1b[K", "\x1b[J", "\x08", "\x1b[D", "\x1b[C", "\t", "\x1b[?7l", "\x1b[?7h", "\x1b[X",
            "\x1b[P", "\x1b[@", "\x1b[1m", "-\x1b[9b",
        ]);
    }),
    ("modes", |n, out| {
        let mode = n.of(&[
            "1", "25", "1000", "1002", "1003", "1004", "1006", "2004", "2026", "7", "1049", "47", "1047", "1048",
        ]);
        *out += &format!(
            "\x1b[?{mode}{}{}",
            n.of(&["h", "l"]),
            n.of(&[
                "text ",
                "\r\n",
                "\x1b[5;5H",
                "\x1b[33m",
                "\x1b=",
                "\x1b>",
                "\x1b[4 q",
                "\x1b7",
                "\x1b8",
                "\x1b[999C"
            ])
        );
    }),
    // Where the cursor is saved and restored: at the edges too, and over a change of screens.
    ("saved-cursors", |n, out| {
        *out += n.of(&[
            "\x1b7",
            "\x1b8",
            "\x1b[s",
            "\x1b[u",
            "\x1b7",
            "\x1b8",
            "\x1b[?1048h",
            "\x1b[?1048l",
            "\x1b[?1049h",
            "\x1b[?1049l",
            "\x1b[?47h",
            "\x1b[?47l",
            "\x1b[5;120Hx",
            "\x1b[5;120H",
            "\x1b[7;119H漢",
            "\x1b[32;120Hx",
            "x",
            "word ",
            "\x1b[31m",
            "\x1b[0m",
            "\x1b(0",
            "\x1b(B",
            "\x0e",
            "\x0f",
            "\x1b)0",
            "\x1b[?6h",
            "\x1b[?6l",
            "\x1b[4;9r",
            "\x1b[r",
            "\x1b[H",
            "\x1b[!p",
            "q",
        ]);
    }),
    // Everything that programs write, in any order. Without lines that do not wrap and without `ESC # 8`: there the
    // emulator of the page has cells that cannot be painted (half a wide character, a line style without lines).
    ("anything", |n, out| {
        let (a, b) = (n.below(12), n.below(40));
        let letter = n.of(&[
            "A", "B", "C", "D", "E", "F", "G", "d", "I", "L", "M", "P", "S", "T", "X", "Z", "@", "`", "a", "e", "J",
            "K", "b",
        ]);
        *out += &match n.below(14) {
            0..=3 => n.of(&WORDS).repeat(1 + n.below(4)),
            4 => n.of(&["漢字", "🦀", "한국", "e\u{301}", "✅", "│", "─", "\u{301}", "a\u{200d}b", "é"]).to_owned(),
            5 => n.of(&["\r\n", "\n", "\r", "\t", "\x08", "\x0b", "\x07", "\x0e", "\x0f"]).to_owned(),
            6 => format!(
                "\x1b[{}m",
                n.of(&["0", "1", "2", "3", "4", "5", "7", "9", "31", "42", "38;5;99", "48;2;1;2;3", "22", "24", "27"])
            ),
            7 => format!("\x1b[{};{}H", 1 + a * 3, 1 + b * 4),
            8..=9 => format!("\x1b[{a}{letter}"),
            10 => format!("\x1b[{};{}r", 1 + a, 1 + a + b),
            11 => format!(
                "\x1b[?{}{}",
                n.of(&["1", "6", "25", "47", "1000", "1006", "1047", "1048", "1049", "2004"]),
                n.of(&["h", "l"])
            ),
            12 => format!("\x1b[{}{}", n.of(&["4", "20"]), n.of(&["h", "l", "l"])),
            _ => n
                .of(&[
                    "\x1b7", "\x1b8", "\x1bM", "\x1bD", "\x1bE", "\x1bH", "\x1b(0", "\x1b(B", "\x1b)0", "\x1b)B",
                    "\x1b[!p", "\x1b[3g", "\x1bc",
                ])
                .to_owned(),
        };
    }),
    ("progress", |n, out| {
        let done = n.below(50);
        *out += &format!(
            "\r\x1b[K{:3}% |\x1b[32m{}\x1b[0m{}| {}",
            done * 2,
            "█".repeat(done),
            " ".repeat(50 - done),
            n.of(&["\x1b[A", "\n", "", ""])
        );
    }),
];
