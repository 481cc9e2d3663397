//! Forty secrets, each of another shape. None was ever one of anybody's.

/// A secret that the runner's owner has in a variable.
#[derive(Debug, Clone)]
pub(crate) struct Planted {
    /// What its shape is.
    pub(crate) shape: &'static str,
    /// The variable.
    pub(crate) variable: String,
    pub(crate) value: String,
}

/// The shapes; `@` stands for something that is in no other.
const SHAPES: [(&str, &str); 40] = [
    ("OpenAI key", "sk-proj-@T3BlbkFJAbCdEfGhIjKl"),
    ("Anthropic key", "sk-ant-api03-@-AbCdEf_GhIj-KlMnOpAA"),
    ("Google key", "AIzaSy@-AbCdEfGhIjKlMnOp"),
    ("AWS access key", "AKIA@CDEFGH2345"),
    ("AWS secret", "wJalrXUtn/@/K7MDENG+bPxRfiCY"),
    ("Azure key", "@0000111122223333444455556666aaaa"),
    ("Hugging Face token", "hf_@AbCdEfGhIjKlMnOpQrSt"),
    ("GitHub classic token", "ghp_@AbCdEfGhIjKlMnOpQr"),
    ("GitHub fine-grained token", "github_pat_11@_AbCdEfGhIjKl0123456789"),
    ("GitHub app token", "ghs_@AbCdEfGhIjKlMnOpQr"),
    ("GitLab token", "glpat-@-AbCdEfGhIj"),
    ("Slack token", "xoxb-123456789012-@-AbCdEfGhIjKl"),
    ("npm token", "npm_@AbCdEfGhIjKlMnOpQrSt"),
    ("Stripe key", "rk_live_@AbCdEfGhIjKlMn"),
    (
        "PEM",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq@hkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIB@AQC7VJTUt9Us8cKj\n-----END PRIVATE KEY-----\n",
    ),
    ("JWT", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOi@In0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r"),
    ("password with punctuation", "p@ss!%^&*()_+-=[]{}|:,.<>?/~@"),
    ("password with double quotes", "say \"@\" twice \"@\""),
    ("password with single quotes", "it's '@' isn't it"),
    ("password with backslashes", "C:\\@\\new\\table\\u0041"),
    ("password with dollars", "$HOME$(@)${IFS}`@`"),
    ("password with spaces", "correct horse @ battery staple"),
    ("umlauts", "Geheimnis-äöüß-@-ÄÖÜ"),
    ("Japanese", "秘密の合言葉@です"),
    ("emoji", "🔑@🔒🗝️secret🦀"),
    ("combined characters", "e\u{301}e\u{301}@a\u{308}o\u{308}"),
    ("base64 with padding", "QWxhZGRpbjpvcGVu@c2VzYW1lIQ=="),
    ("base64 for addresses", "QWxhZGRpbg_@-c2VzYW1l_IQ"),
    ("hex", "0123456789abcdef@fedcba9876543210"),
    ("UUID", "@-4b1d-4c3e-9f5a-0123456789ab"),
    ("address with a password", "https://robot:@hunter2@git.example.org/x.git"),
    ("database address", "postgres://ann:@s3cret@db.example.org:5432/floor"),
    ("regular expression", "^(@|.*)+[a-z]{2,}\\d?$"),
    ("looks like an option", "--token=@-AbCdEfGh"),
    ("JSON", "{\"type\":\"service_account\",\"private_key_id\":\"@\"}"),
    ("lines with CR LF", "first-@-line\r\nsecond-@-line\r\n"),
    ("with a tab", "before\t@\tafter"),
    ("short", "k@"),
    ("long", "@"),
    ("begins as another does", "sk-proj-@T3BlbkFJAbCdEfGhIjKlMnOp"),
];

/// All of them.
pub(crate) fn planted() -> Vec<Planted> {
    let make = |(index, (shape, pattern)): (usize, (&'static str, &str))| {
        let word = format!("Zq{index:02}xW");
        let mut value = pattern.replacen("@ss", "\u{0}ss", 1).replace('@', &word).replace("\u{0}ss", "@ss");
        if pattern.contains("://") {
            // The last sign but one of an address is its own.
            value = pattern.replacen('@', &word, 1);
        }
        match shape {
            "long" => value = (0..300).map(|n| format!("{word}{n:03}")).collect(),
            "begins as another does" => value = format!("sk-proj-{}T3BlbkFJAbCdEfGhIjKlMnOp", "Zq00xW"),
            "short" => value = format!("k{word}9"),
            _ => {}
        }
        assert!(value.len() >= 8, "{shape}: {value}");
        Planted { shape, variable: format!("CANARY_{index:02}_API_KEY"), value }
    };
    SHAPES.into_iter().enumerate().map(make).collect()
}

/// What must not be found of a value: each of its lines, as it is, as JSON writes it, and each half of a longer one.
pub(crate) fn needles(value: &str) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let lines = value.lines().map(str::trim).filter(|line| line.len() >= 8 && !line.starts_with("-----"));
    for line in lines {
        let json = serde_json::Value::from(line).to_string();
        let json = &json[1..json.len() - 1];
        let units = |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect();
        let ascii = json.chars().map(|c| if c.is_ascii() { c.to_string() } else { units(c) }).collect();
        all.extend([line.to_owned(), json.to_owned(), ascii]);
        let (first, second) = halves(line);
        all.extend(
            [first, second].into_iter().filter(|half| half.len() >= 12 && half.contains("Zq")).map(str::to_owned),
        );
    }
    all.sort();
    all.dedup();
    all.into_iter().map(String::into_bytes).collect()
}

/// A text in the middle, between characters.
fn halves(text: &str) -> (&str, &str) {
    let middle = text.chars().take(text.chars().count() / 2).map(char::len_utf8).sum();
    text.split_at(middle)
}
