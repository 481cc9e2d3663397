//! Expressions and templates: what they yield, and what is refused.

use serde_json::{Value as Json, json};

use super::*;

fn scope() -> Json {
    json!({
        "inputs": { "issue": 42, "name": "a b", "list": [3, 1, 2], "big": "x".repeat(60_000), "yes": true },
        "steps": { "fix": { "output": { "branch": "b", "tasks": [{ "name": "one" }, { "name": "two" }] } } },
    })
}

fn expr(text: &str) -> Result<Json, String> {
    expression(&Expr(text.to_owned()), &scope()).map_err(|error| error.message)
}

fn render(text: &str) -> Result<String, String> {
    template(&Template(text.to_owned()), &scope()).map_err(|error| error.message)
}

#[test]
fn expressions_keep_their_types() {
    for (text, value) in [
        ("inputs.issue", json!(42)),
        ("inputs.issue > 3 and inputs.yes", json!(true)),
        ("inputs.list|sort", json!([1, 2, 3])),
        ("inputs.issue|times(2) + 1", json!(85)),
        ("{'a': [inputs.issue, none]}", json!({ "a": [42, null] })),
        ("steps.fix.output.tasks|map(attribute='name')|join(', ')", json!("one, two")),
        ("inputs.missing|default('d')", json!("d")),
        ("inputs.missing is defined", json!(false)),
        ("inputs.list[1:]|length", json!(2)),
        ("inputs.name ~ '*' ~ 1", json!("a b*1")),
        ("inputs.name|replace(' ', '-')", json!("a-b")),
        ("inputs|tojson|length > 60000", json!(true)),
    ] {
        assert_eq!(expr(text), Ok(value), "{text}");
    }
}

#[test]
fn templates_are_texts() {
    for (text, value) in [
        ("plain", "plain"),
        ("a\n", "a\n"),
        ("Fix {{ inputs.issue }} <&>", "Fix 42 <&>"),
        ("{# note #}{% for t in steps.fix.output.tasks %}- {{ t.name }}\n{% endfor %}", "- one\n- two\n"),
        ("{% for k, v in steps.fix.output|items if k == 'branch' %}{{ k }}={{ v }}{% endfor %}", "branch=b"),
        ("{% if inputs.yes %}{{ '}}' }}{% else %}no{% endif %}", "}}"),
        ("{{ {'a': {'b': 1}} }}", r#"{"a":{"b":1}}"#),
        ("{{ inputs.yes }} {{ none }} {{ inputs.list }}", "true null [3,1,2]"),
    ] {
        assert_eq!(render(text), Ok(value.to_owned()), "{text}");
    }
}

#[test]
fn a_text_that_is_one_expression_keeps_its_type() {
    let given = Value(
        json!({ "n": "{{ inputs.issue }}", "t": "#{{ inputs.issue }}", "two": "{{ 1 }}{{ 2 }}", "x": [1, null] }),
    );
    let made = value(&given, &scope()).unwrap();
    assert_eq!(made, json!({ "n": 42, "t": "#42", "two": "12", "x": [1, null] }));
}

#[test]
fn conditions_are_true_or_false() {
    let holds = |text: &str| condition(&Expr(text.to_owned()), &scope()).map_err(|error| error.message);
    assert_eq!(holds("inputs.issue == 42"), Ok(true));
    assert!(holds("inputs.issue").unwrap_err().contains("a number"));
}

#[test]
fn errors_say_what_is_wrong() {
    for (text, why) in [
        ("inputs.missing", "not there"),
        ("inputs.missing.more", "not there"),
        ("nobody()", "unknown"),
        ("inputs.issue|shell", "shell"),
        ("1 +", "unexpected"),
        ("inputs.list * 5", "times"),
        ("2 ** 3", "times"),
        ("steps", "steps.ID.output"),
        ("steps['fix'].output", "steps.ID.output"),
        ("'a", "closed"),
        ("now()", "unknown"),
        ("range(3)", "unknown"),
    ] {
        let error = expr(text).expect_err(text);
        assert!(error.contains(why), "{text}: {error}");
    }
    for (text, why) in [
        ("{{ inputs.issue", "closed"),
        ("{% set x = 1 %}", "`{% set %}`"),
        ("{% with x = 1 %}{% endwith %}", "`{% with %}`"),
        ("{% include 'a' %}", "`{% include %}`"),
        ("{% raw %}{% endraw %}", "`{% raw %}`"),
        ("{% for x in [1] %}{% endfor %}", "goes over a variable"),
        ("{% for x in inputs.list ~ inputs.list %}{% endfor %}", "goes over a variable"),
        ("{% for x in inputs.list recursive %}{% endfor %}", "goes over a variable"),
        ("{% for x in inputs.list if x recursive %}{{ loop(inputs.list) }}{% endfor %}", "call itself"),
    ] {
        let error = render(text).expect_err(text);
        assert!(error.contains(why), "{text}: {error}");
    }
    let error = template(&Template("a\n{{ 1 +* }}".to_owned()), &scope()).unwrap_err();
    assert_eq!(error.line, Some(2));
}

#[test]
fn bombs_do_not_go_off() {
    let loops = |depth: usize| {
        let open: String = (0..depth).map(|at| format!("{{% for a{at} in inputs.big %}}")).collect();
        open + "{{ inputs.big }}" + &"{% endfor %}".repeat(depth)
    };
    for (text, why) in [
        (loops(3), "256 KiB"),
        (loops(4), "more than 3 loops"),
        (format!("{{{{ {}inputs.big }}}}", "inputs.big ~ ".repeat(40)), "more than 16"),
        ("{{ inputs.big|replace('x', inputs.big) }}".to_owned(), "256 KiB"),
        ("{{ inputs.big|replace('', inputs.big) }}".to_owned(), "256 KiB"),
        ("{{ inputs.big|join(inputs.big) }}".to_owned(), "256 KiB"),
        (format!("{{{{ '\"'{} }}}}", "|tojson".repeat(100)), "256 KiB"),
        (format!("{{{{ {}1{} }}}}", "(".repeat(400), ")".repeat(400)), "recursion"),
        (format!("{{{{ [{}] }}}}", "inputs.big,".repeat(80)), "256 KiB"),
        ("{{ 1 }}".repeat(3_000), "16 KiB"),
        ("{{ 'x'|indent(99999999) }}".to_owned(), "256 KiB"),
        ("{% for a in inputs.big %}{% for b in inputs.big %}{% endfor %}{% endfor %}".to_owned(), "instructions"),
    ] {
        let error = render(&text).expect_err(&text[..40.min(text.len())]);
        assert!(error.contains(why), "{}: {error}", &text[..60.min(text.len())]);
    }
}

#[test]
fn variables_are_full_paths() {
    let of = |text: &str, kind| variables(text, kind).unwrap().join(" ");
    assert_eq!(of("inputs.issue > steps.fix.output.n", Kind::Expression), "inputs.issue steps.fix.output.n");
    assert_eq!(of("steps.fix.output.list[1:] ~ item[0]", Kind::Expression), "item steps.fix.output.list");
    assert_eq!(of("{% for t in steps.fix.output %}{{ t.name }}{% endfor %}", Kind::Template), "steps.fix.output");
    assert_eq!(of("{{ 'steps.no.output' }} steps.no.output", Kind::Template), "");
    assert_eq!(of("{{ inputs }}", Kind::Template), "inputs");
    assert!(variables("{{ steps }}", Kind::Template).is_err());
    assert!(variables("{{ 1 + }}", Kind::Template).is_err());
}
