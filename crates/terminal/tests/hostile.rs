//! What a program prints must not make its terminal type anything but a few harmless answers, each once.
#![allow(clippy::unwrap_used)]

mod support;

use support::{View, shell, start};
use terminal::{HostLink, Screen};

/// Everything that a terminal could be talked into saying.
fn sequences() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    let mut add = |text: &str| all.push(text.as_bytes().to_vec());
    // Identity, status, modes.
    for text in ["\x1b[c", "\x1b[0c", "\x1b[>c", "\x1b[>0c", "\x1b[=c", "\x1bZ", "\x05", "\x1b[x", "\x1b[1x"] {
        add(text);
    }
    for what in [0, 1, 3, 5, 6, 15, 25, 26, 53, 55, 56, 62, 63, 75, 85, 996] {
        add(&format!("\x1b[{what}n"));
        add(&format!("\x1b[?{what}n"));
    }
    for mode in [1, 6, 7, 25, 1000, 1006, 1049, 2004, 2026, 2031, 4711] {
        add(&format!("\x1b[?{mode}$p"));
    }
    for text in ["\x1b[4$p", "\x1b[20$p", "\x1b[>q", "\x1b[>0q", "\x1b[?u", "\x1b[?4m", "\x1b[>4;?m"] {
        add(text);
    }
    // The window: its title, its place, its size.
    for what in [11, 13, 14, 15, 16, 18, 19, 20, 21] {
        add(&format!("\x1b[{what}t"));
        add(&format!("\x1b]2;$(reboot)\r\x07\x1b[{what}t"));
    }
    // Colours, clipboard, and other commands that have an answer somewhere.
    for text in [
        "\x1b]4;1;?\x07",
        "\x1b]4;0;?;1;?\x1b\\",
        "\x1b]5;0;?\x07",
        "\x1b]10;?\x07",
        "\x1b]11;?\x1b\\",
        "\x1b]12;?\x07",
        "\x1b]13;?\x07",
        "\x1b]17;?\x07",
        "\x1b]19;?\x07",
        "\x1b]10;?;?;?\x07",
        "\x1b]52;c;?\x07",
        "\x1b]52;p;?\x1b\\",
        "\x1b]52;;?\x07",
        "\x1b]52;c0;?\x07",
        "\x1b]52;c;cm0gLXJmIC8K\x07",
        "\x1b]50;?\x07",
        "\x1b]60\x07",
        "\x1b]61\x07",
        "\x1b]702;?\x07",
        "\x1b]1337;ReportCellSize\x07",
        "\x1b]1337;ReportVariable=dXNlcg==\x07",
        "\x1b]1337;RequestUpload=format=tgz\x07",
        "\x1b]99;i=1:p=?;\x1b\\",
        "\x1b]99;i=1:d=0:p=title;x\x1b\\",
        "\x1b]777;notify;a;b\x07",
        "\x1b]9;text\x07",
        "\x1b]7;file://host/etc\x07",
        "\x1b]22;?__current__\x07",
        "\x1b]8;;javascript:alert(1)\x1b\\x\x1b]8;;\x1b\\",
        "\x1b]66;s=2;x\x07",
        "\x1b]21;foreground=?\x1b\\",
        "\x1b]3008;start=x\x1b\\",
        "\x1b]633;P;Cwd=?\x07",
    ] {
        add(text);
    }
    // Device control strings and private messages.
    for text in [
        "\x1bP$qm\x1b\\",
        "\x1bP$q\"p\x1b\\",
        "\x1bP$qr\x1b\\",
        "\x1bP+q544e\x1b\\",
        "\x1bP+q436f\x07\x1b\\",
        "\x1bP=1s\x1b\\",
        "\x1bPtmux;\x1b\x1b[c\x1b\\",
        "\x1bP1000p\x1b\\",
        "\x1bP@kitty-cmd{\"cmd\":\"ls\"}\x1b\\",
        "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\",
        "\x1b^private\x1b\\",
        "\x1bXstring\x1b\\",
        "\x1b[?1$w",
        "\x1b[2$w",
        "\x1b[1*x",
        "\x1b[1;1;1;1;1;1*y",
        "\x1b[?1;1;1S",
        "\x1b[0;0;'z",
        "\x1b['|",
        "\x1b[5i",
        "\x1b[?5i",
        "\x1b[1+z",
        "\x1b[#q",
        "\x1b[#R",
        "\x1b[18;1;?t",
        "\x1b[>1;1;1t",
        "\x1b]2;\x1b[6n\x07",
        "\x1b]0;a\nb\rc\x07",
    ] {
        add(text);
    }
    // The same without escape characters.
    for text in ["\u{9b}c", "\u{9b}6n", "\u{9d}11;?\u{9c}", "\u{90}$qm\u{9c}"] {
        add(text);
    }
    all.push(b"\x9bc\x9b6n".to_vec());
    all
}

/// The answers that may be given, without the numbers in them.
const ALLOWED: [&str; 12] = [
    "\x1b[?#;#c",
    "\x1b[>#;#;#c",
    "\x1b[#n",
    "\x1b[#;#R",
    "\x1b[?#;#$y",
    "\x1b[#;#$y",
    "\x1bP>|shopfloor\x1b\\",
    "\x1b[?#u",
    "\x1b[#;#;#t",
    "\x1b]#;rgb:#/#/#\x07",
    "\x1b]#;rgb:#/#/#\x1b\\",
    "",
];

/// An answer with `#` for each number.
fn shape(answer: &[u8]) -> String {
    let text = std::str::from_utf8(answer).unwrap();
    let colour = text.contains("rgb:");
    let mut shape = String::new();
    for character in text.chars() {
        let number = character.is_ascii_digit() || colour && matches!(character, 'a' | 'c'..='f');
        match number {
            true if shape.ends_with('#') => (),
            true => shape.push('#'),
            false => shape.push(character),
        }
    }
    shape
}

#[test]
fn each_query_gets_its_listed_answer_once() {
    let sequences = sequences();
    assert!(sequences.len() >= 120, "{}", sequences.len());
    let mut answered = 0;
    for sequence in &sequences {
        let shown = String::from_utf8_lossy(sequence).into_owned();
        let mut screen = Screen::new(80, 24, 100);
        screen.feed(sequence);
        let once = screen.take_answers();
        assert!(screen.take_answers().is_empty(), "once: {shown:?}");
        let allowed = ALLOWED.contains(&shape(&once).as_str());
        // Several colours in one question are several answers.
        let several = shape(&once).replace("\x1b]#;rgb:#/#/#\x07", "").is_empty();
        assert!(allowed || several, "{shown:?} was answered with {:?}", String::from_utf8_lossy(&once));
        answered += usize::from(!once.is_empty());
        let text = String::from_utf8_lossy(&once).into_owned();
        assert!(!text.contains("reboot") && !text.contains("rm "), "nothing comes back: {text:?}");
        // What is shown elsewhere later asks nothing, rings nothing, and opens nothing.
        let mut elsewhere = Screen::new(80, 24, 100);
        elsewhere.feed(&screen.snapshot().bytes);
        assert!(elsewhere.take_answers().is_empty(), "a snapshot asks: {shown:?}");
        assert_eq!((elsewhere.bells(), elsewhere.notifications()), (0, 0), "{shown:?}");
        assert!(!elsewhere.title().contains(char::is_control));
        let whole: Vec<u8> = sequence.iter().chain(b"\x1b\\\x07text").copied().collect();
        screen.feed(&whole);
        assert!(screen.text().contains("text"), "the terminal goes on after {shown:?}");
    }
    assert!((20..60).contains(&answered), "{answered} were answered");
}

#[test]
fn endless_sequences_take_no_memory() {
    let mut screen = Screen::new(80, 24, 100);
    let mut feed = |start: &[u8], piece: &[u8]| {
        screen.feed(start);
        for _ in 0..400 {
            screen.feed(&piece.repeat(10_000 / piece.len()));
        }
        screen.feed(b"\x18");
        screen.take_answers().len()
    };
    for (start, piece) in [
        (&b"\x1b]2;"[..], &b"x"[..]),
        (b"\x1b]8;;", b"y"),
        (b"\x1bP", b"1;"),
        (b"\x1b_", b"z"),
        (b"\x1b[", b"1;"),
        (b"a", "\u{301}".as_bytes()),
        (b"", b"\x1b]2;title\x07\x1b[22t"),
        (b"", b"\x1b[>1u"),
        (b"", b"\x1b[?31337h"),
        (b"", b"\x1b[6n"),
        (b"", b"\x1b]8;;https://example.org/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\x1b\\x"),
    ] {
        assert!(feed(start, piece) < 64 << 10, "answers are bounded");
    }
    let memory = std::fs::read_to_string("/proc/self/status").unwrap();
    let resident = memory.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    let kilobytes: u64 = resident.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kilobytes < 64 << 10, "{resident}");
}

#[tokio::test]
async fn two_watchers_make_no_second_answer() {
    let script = "stty raw -echo min 0 time 10; \
                  printf '\\033[c\\033[6n\\033]52;c;?\\007\\033]2;evil\\007\\033[21t\\033[5n'; \
                  dd bs=4096 count=4 2>/dev/null | od -An -c | tr -d ' \\n'; echo; echo over";
    let mut session = start(&shell(script)).await;
    let (other, mut other_events) = HostLink::connect(session.path()).await.unwrap();
    let (mut view, mut other_view) = (View::new(), View::new());
    session.link.watch(None).unwrap();
    other.watch(None).unwrap();
    session.until(&mut view, "the end", |view| view.exit.is_some()).await;
    support::until(&other, &mut other_events, &mut other_view, "the end", |view| view.exit.is_some()).await;
    let text = view.text();
    assert_eq!(text, other_view.text());
    let answers: String = text.lines().take_while(|line| !line.contains("over")).collect();
    assert_eq!(answers.matches("62;22c").count(), 1, "{text}");
    assert_eq!(answers.matches("[0n").count(), 1, "{text}");
    assert_eq!(answers.matches('R').count(), 1, "{text}");
    assert!(!answers.contains("evil") && !answers.contains("]52"), "{text}");
}
