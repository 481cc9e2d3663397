//! Nothing that a terminal would answer, or do outside its window, comes through.

use proptest::prelude::*;

use super::Filter;

fn pass(text: &str) -> String {
    String::from_utf8(Filter::default().pass(text.as_bytes())).unwrap()
}

/// What a program must not make a person's terminal do.
const SILENCED: &[&str] = &[
    // Who are you?
    "\x1b[c",
    "\x1b[0c",
    "\x1b[>c",
    "\x1b[>0c",
    "\x1b[=c",
    "\x1b[=0c",
    "\x1bZ",
    "\x05",
    "\x1b[>q",
    "\x1b[>0q",
    "\u{9b}c",
    "\u{9a}",
    // How are you, and where is the cursor?
    "\x1b[5n",
    "\x1b[6n",
    "\x1b[?6n",
    "\x1b[?15n",
    "\x1b[?25n",
    "\x1b[?26n",
    "\x1b[?53n",
    "\x1b[?62n",
    "\x1b[?75n",
    "\x1b[?85n",
    "\x1b[?996n",
    "\u{9b}6n",
    "\x1b[x",
    "\x1b[0x",
    "\x1b[1x",
    "\x1b[06n",
    "\x1b[;6n",
    "\x1b[6;n",
    // Which modes and settings?
    "\x1b[?2004$p",
    "\x1b[4$p",
    "\x1b[?1$p",
    "\x1b[?u",
    "\x1b[?4m",
    "\x1b[?1;1;0S",
    "\x1b[1$w",
    "\x1b[2$w",
    "\x1b[&u",
    "\x1b[1$u",
    "\x1b[1;1;1;1;1;1*y",
    "\x1b[#R",
    "\x1b[1;1;1;1#|",
    "\x1b['|",
    "\x1b[\"v",
    "\x1bP$qm\x1b\\",
    "\x1bP$q\"p\x1b\\",
    "\x1bP+q544e\x1b\\",
    "\x1bP+p41\x1b\\",
    "\u{90}$qm\u{9c}",
    // Which colours?
    "\x1b]10;?\x07",
    "\x1b]11;?\x1b\\",
    "\x1b]12;?\x07",
    "\x1b]4;1;?\x07",
    "\x1b]5;0;?\x07",
    "\x1b]17;?\x07",
    "\x1b]19;?\x07",
    "\x1b]52;c;?\x07",
    "\x1b]21;foreground=?\x1b\\",
    "\u{9d}11;?\u{9c}",
    "\u{9d}11;?\x07",
    // Clipboard, title, folder, notifications, prompts, files, images, fonts, pointer.
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b]52;p;ZXZpbA==\x1b\\",
    "\x1b]0;title\x07",
    "\x1b]1;icon\x07",
    "\x1b]2;title\x1b\\",
    "\x1b]7;file://h/tmp\x07",
    "\x1b]9;done\x07",
    "\x1b]9;4;1;50\x07",
    "\x1b]99;;hello\x1b\\",
    "\x1b]777;notify;a;b\x07",
    "\x1b]133;A\x07",
    "\x1b]1337;File=inline=1:AAAA\x07",
    "\x1b]1337;ReportCellSize\x07",
    "\x1b]50;?\x07",
    "\x1b]22;pointer\x07",
    "\x1b]4;1;rgb:00/00/00\x07",
    "\x1b]11;#000000\x07",
    "\x1b_Gi=1,a=q;AAAA\x1b\\",
    "\x1b^private\x1b\\",
    "\x1bXstring\x1b\\",
    "\x1bPq#0;2;0;0;0~-\x1b\\",
    "\x1bPtmux;\x1b\x1b]52;c;QQ==\x07\x1b\\",
    // Windows, printers, keyboards.
    "\x1b[8;24;80t",
    "\x1b[18t",
    "\x1b[14t",
    "\x1b[21t",
    "\x1b[20t",
    "\x1b[22;0t",
    "\x1b[1t",
    "\x1b[>1t",
    "\x1b[i",
    "\x1b[5i",
    "\x1b[4i",
    "\x1b[?5i",
    "\x1b[?3h",
    "\x1b[?2031h",
    "\x1b[?2048h",
    "\x1b[?02048h",
    "\x1b[2h",
    "\x1b[?40;3h",
    "\x1b[1\"p",
    // The scrollback.
    "\x1b[3J",
    "\x1b[03J",
    "\x1b[?3J",
    "\x1b[3;2J",
    // Links that are none to the web.
    "\x1b]8;;javascript:alert(1)\x07",
    "\x1b]8;;file:///etc/passwd\x1b\\",
    "\x1b]8;;x-app://run\x07",
];

#[test]
fn queries_and_window_commands_are_removed() {
    for sequence in SILENCED {
        let shown = pass(&format!("a{sequence}b"));
        let visible: String = shown.chars().filter(|c| !c.is_control()).collect();
        assert!(!shown.contains('\x1b') && !shown.contains('\u{9b}'), "{sequence:?} left {shown:?}");
        // What follows a multiplexer's wrapping is text; everything else leaves nothing.
        assert!(visible == "ab" || sequence.contains("tmux;"), "{sequence:?} left {shown:?}");
    }
}

#[test]
fn what_draws_comes_through_unchanged() {
    for text in [
        "plain ünïcödé 日本語 🦀 e\u{301}\r\n\t\x08\x07",
        "\x1b[31;1mred\x1b[0m \x1b[38;2;1;2;3mtrue\x1b[48:2::4:5:6m\x1b[4:3m",
        "\x1b[H\x1b[2J\x1b[3;4H\x1b[K\x1b[1P\x1b[2@\x1b[3L\x1b[4M\x1b[5X\x1b[2;20r\x1b[S\x1b[T\x1b[6b",
        "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?1000;1006h\x1b[?2026h\x1b[?1l\x1b[4h\x1b[?7l\x1b[?1004h",
        "\x1b7\x1b8\x1b=\x1b>\x1bM\x1bD\x1bE\x1bH\x1b(0\x1b)B\x1b#8",
        "\x1b[2 q\x1b[!p\x1b[>4;1m\x1b[>4m\x1b[>1u\x1b[<u\x1b[=1;1u\x1b[s\x1b[u\x1b[1\"q",
        "\x1b]8;id=1;https://example.org/a?b=c\x1b\\link\x1b]8;;\x1b\\",
    ] {
        assert_eq!(pass(text), text);
    }
}

#[test]
fn only_the_unwanted_of_several_modes_goes() {
    assert_eq!(pass("\x1b[?3;1049;2048h"), "\x1b[?1049h");
    assert_eq!(pass("\x1b[4;2h"), "\x1b[4h");
}

#[test]
fn a_reset_clears_the_screen_and_leaves_the_scrollback() {
    assert_eq!(pass("a\x1bcb").as_bytes(), [b"a", super::super::begin_screen().as_slice(), b"b"].concat());
    assert_eq!(pass("\x1b[H\x1b[2J\x1b[3J"), "\x1b[H\x1b[2J", "as `clear` does it");
}

#[test]
fn eight_bit_controls_equal_escape_sequences() {
    assert_eq!(pass("\u{9b}31mred"), "\x1b[31mred");
    assert_eq!(Filter::default().pass(b"a\x9b6nb\x9d0;x\x07"), b"a6nb0;x\x07", "alone it is no character and nothing");
}

#[test]
fn a_cancelled_command_is_none() {
    assert_eq!(pass("\x1b[3\x18m"), "m");
    assert_eq!(pass("\x1b[3\x1b[1m"), "\x1b[1m");
    assert_eq!(pass("\x1b[3\r\n1m"), "\r\n\x1b[31m", "a control inside is done at once");
    let long = format!("\x1b[{}mtext\x1b]8;;https://{}\x07text", "1".repeat(10_000), "x".repeat(10_000));
    assert_eq!(pass(&long), "texttext");
}

proptest! {
    #[test]
    fn pieces_are_the_same_as_the_whole(
        bytes in proptest::collection::vec(
            prop_oneof![any::<u8>(), Just(0x1b), Just(b'['), Just(b']'), Just(b'?'), Just(b';'), Just(0xc2), Just(0x9b)],
            0..120,
        ),
        cuts in proptest::collection::vec(0_usize..120, 0..6),
    ) {
        let whole = Filter::default().pass(&bytes);
        let (mut filter, mut pieces, mut at) = (Filter::default(), Vec::new(), 0);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.sort_unstable();
        for cut in cuts.into_iter().chain([bytes.len()]) {
            pieces.extend(filter.pass(&bytes[at..cut]));
            at = cut;
        }
        prop_assert_eq!(&pieces, &whole);
        prop_assert_eq!(&Filter::default().pass(&whole), &whole, "what is harmless stays");
    }
}
