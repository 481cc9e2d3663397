//! Recipes of people who mean harm: refused with the place, and nothing of them is executed.

use engine::recipes::model::{Action, Context};
use engine::recipes::{Effect, Event, Execution, Work, limits, step};
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::{bad, good};
use crate::{Finding, Format, LARGEST, inputs, read};

/// What a hostile text is refused with; that it returns is part of the test.
fn refused(text: &str, format: Format, said: &str) -> Finding {
    let errors = read(text, format).expect_err(&text[..text.len().min(80)]);
    assert!(errors.len() <= 100);
    let found = errors.iter().find(|error| error.message.contains(said));
    found.unwrap_or_else(|| panic!("no `{said}` in {:?}", &errors[..errors.len().min(3)])).clone()
}

#[test]
fn billion_laughs() {
    let mut text = String::from("name: a\nl0: &l0 [lol, lol]\n");
    for level in 1..30 {
        text += &format!("l{level}: &l{level} [*l{}, *l{}]\n", level - 1, level - 1);
    }
    assert_eq!(refused(&text, Format::Yaml, "anchors").line, 2);
}

#[test]
fn deep_nesting() {
    let many = 100_000;
    for (text, format) in [
        ("[".repeat(many), Format::Yaml),
        ("{a: ".repeat(many / 4), Format::Yaml),
        ("- ".repeat(many / 2), Format::Yaml),
        ("? ".repeat(1_000), Format::Yaml),
        ((0..400).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect(), Format::Yaml),
        ("[".repeat(many), Format::Json),
        ("{\"a\":".repeat(many / 5), Format::Json),
        (format!("a = {}", "[".repeat(many)), Format::Toml),
        (format!("a{} = 1", ".a".repeat(60)), Format::Toml),
    ] {
        refused(&text, format, "");
    }
    let inner = format!("{}1{}", "[".repeat(60), "]".repeat(60));
    refused(&format!("name: {inner}"), Format::Yaml, "nested more than");
    refused(&format!("{{\"name\": {inner}}}"), Format::Json, "nested more than");
    refused(&format!("name = {inner}"), Format::Toml, "nested more than");
}

#[test]
fn deep_blocks_and_many_steps() {
    let mut step = "{id: s, run: [make]}".to_owned();
    for depth in 0..=limits::DEPTH {
        step = format!("{{id: b{depth}, branch: [{{if: true, steps: [{step}]}}]}}");
    }
    refused(&format!("name: a\nsteps: [{step}]"), Format::Yaml, "blocks are nested more than 8 deep");
    let steps: String = (0..=limits::STEPS).map(|at| format!("- {{id: s{at}, run: [make]}}\n")).collect();
    let found = refused(&format!("name: a\nsteps:\n{steps}"), Format::Yaml, "more than 200 steps");
    assert_eq!(found.line, 203);
}

#[test]
fn large_texts() {
    let found = refused(&" ".repeat(LARGEST + 1), Format::Yaml, "the limit is 256 KiB");
    assert_eq!((found.line, found.column), (1, 1));
    let many = format!("name: a\nx: [{}]", "1,".repeat(60_000));
    refused(&many, Format::Yaml, "more than 50000 values");
    let wide: String = (0..20_000).map(|at| format!("f{at}: 1\n")).collect();
    refused(&wide, Format::Yaml, "unknown field");
    let long = format!("name: {}\nsteps: [{{id: a, run: [make]}}]", "x".repeat(200_000));
    let found = refused(&long, Format::Yaml, "is not a name of a recipe");
    assert!(found.to_string().len() < 500, "messages stay short: {}", found.to_string().len());
}

#[test]
fn expression_bombs() {
    let one = |expr: &str| {
        format!(
            "name: a\ninputs: {{x: string, list: array}}\nsteps:\n- {{id: one, notify: {{to: chat, text: '{expr}'}}}}"
        )
    };
    for (expr, said) in [
        (format!("{{{{ {}inputs.x }}}}", "inputs.x ~ ".repeat(50)), "more than 16"),
        ("{{ inputs.x * 1000000 }}".to_owned(), "times"),
        (format!("{{{{ {}1{} }}}}", "(".repeat(400), ")".repeat(400)), "recursion"),
        ("{% for a in inputs.list %}".repeat(4), "more than 3 loops"),
        ("{% set x = 1 %}".to_owned(), "`{% set %}`"),
        ("{% include \"/etc/passwd\" %}".to_owned(), "`{% include %}`"),
        ("{% macro a() %}{% endmacro %}".to_owned(), "`{% macro %}`"),
        ("{{ range(1000000000) }}".to_owned(), "no function `range`"),
        ("{{ 1 }}".repeat(3_000), "16 KiB"),
        (format!("{{{{ {} }}}}", "x".repeat(2_000)), "1024 bytes"),
        ("{{ debug() }}".to_owned(), "no function `debug`"),
        ("{{ self }}".to_owned(), "no variable `self`"),
        ("{{ env.HOME }}{{ secrets.TOKEN }}".to_owned(), "no variable `secrets`"),
    ] {
        let found = refused(&one(&expr), Format::Yaml, said);
        assert_eq!((found.line, found.path.as_str()), (4, "steps[0].notify.text"), "{expr}");
        assert!(found.column >= 40, "{found}");
    }
}

#[test]
fn schema_bombs() {
    let schema = |schema: &str| format!("name: a\nsteps: [{{id: a, run: [make], output: {{schema: {schema}}}}}]");
    refused(&schema("{$ref: 'https://example.org/a.json'}"), Format::Yaml, "`$ref`");
    refused(&schema("{pattern: '((a{100}){100}){100}'}"), Format::Yaml, "not a usable JSON Schema");
    refused(&schema(&format!("{{description: {}}}", "x".repeat(20_000))), Format::Yaml, "16 KiB");
}

#[test]
fn a_huge_for_each_fails_before_it_begins() {
    let recipe = good(
        "name: a\ninputs: {list: array}\nsteps:\n- {id: e, for_each: {items: inputs.list, steps: [{id: x, run: [make]}]}}",
    );
    let list: Vec<u32> = (0..=limits::ITEMS as u32).collect();
    let begun = start(recipe.recipe, json!({ "list": list }));
    assert!(!begun.iter().any(|effect| matches!(effect, Effect::Begin { .. })), "{begun:?}");
    bad("name: a\nsteps:\n- {id: e, for_each: {items: range(100000000), steps: [{id: x, run: [make]}]}}");
}

/// The effects of the start of a recipe.
fn start(recipe: engine::recipes::model::Recipe, given: Json) -> Vec<Effect> {
    let inputs = inputs(&recipe, given.as_object().unwrap()).unwrap();
    let at = domain::Timestamp::from_millis(0);
    let context =
        Context { id: "exe_1".into(), project: "p".into(), person: "ann".into(), started_at: at, trigger: None };
    step(&Execution::new(recipe.into(), "v".into(), context, inputs), &Event::Started, at).unwrap().effects
}

fn argv(recipe: &str, given: Json) -> Vec<String> {
    let effects = start(good(recipe).recipe, given);
    let found = effects.into_iter().find_map(|effect| match effect {
        Effect::Begin { work, .. } => match *work {
            Work::Run { argv, .. } => Some(argv),
            _ => None,
        },
        _ => None,
    });
    found.expect("a command begins")
}

const COMMAND: &str = "name: a\ninputs: {x: string, list: {type: array, default: []}}\nsteps:\n";

proptest! {
    #[test]
    fn an_input_stays_one_argument(x in "[^\0]{0,40}") {
        let given = json!({ "x": x.clone() });
        let made = argv(&format!("{COMMAND}- {{id: a, run: [prog, '{{{{ inputs.x }}}}', 'y={{{{ inputs.x }}}}', z]}}"), given);
        prop_assert_eq!(made, ["prog".to_owned(), x.clone(), format!("y={x}"), "z".to_owned()]);
        let given = json!({ "x": "", "list": ["prog", x.clone()] });
        let made = argv(&format!("{COMMAND}- {{id: a, run: '{{{{ inputs.list }}}}'}}"), given);
        prop_assert_eq!(made, ["prog".to_owned(), x]);
    }

    #[test]
    fn an_input_stays_one_argument_of_a_criterion(x in "[^\0]{0,40}") {
        let recipe = format!("{COMMAND}- {{id: a, agent: {{prompt: x, accept: ['command: make {{{{ inputs.x }}}} ''a {{{{ inputs.x }}}}''']}}}}");
        let effects = start(good(&recipe).recipe, json!({ "x": x.clone() }));
        let accept = effects.iter().find_map(|effect| match effect {
            Effect::Begin { work, .. } => match &**work {
                Work::Agent { accept, .. } => accept.first(),
                _ => None,
            },
            _ => None,
        });
        prop_assert_eq!(&accept.unwrap()["argv"], &json!(["make", x.clone(), format!("a {x}")]));
    }

    #[test]
    fn values_of_inputs_are_never_evaluated(x in "[{}%a-z. ]{0,30}") {
        let text = format!("{{{{ 7 }}}}{x}");
        let made = argv(&format!("{COMMAND}- {{id: a, run: [prog, '{{{{ inputs.x }}}}']}}"), json!({ "x": text.clone() }));
        prop_assert_eq!(&made[1], &text);
    }

    #[test]
    fn any_text_is_read_or_refused_with_a_place(text in ".{0,200}", at in 0..3usize) {
        sane(&text, [Format::Yaml, Format::Toml, Format::Json][at])?;
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0..3usize) {
        sane(&String::from_utf8_lossy(&bytes), [Format::Yaml, Format::Toml, Format::Json][at])?;
    }

    #[test]
    fn almost_recipes_are_read_or_refused(value in value(), at in 0..3usize) {
        let text = json!({ "name": "a", "inputs": {"x": "string"}, "steps": value }).to_string();
        sane(&text, [Format::Yaml, Format::Json, Format::Json][at])?;
    }

    #[test]
    fn damaged_recipes_are_read_or_refused(which in 0..6usize, at in any::<prop::sample::Index>(), by in ".{0,3}", cut in 0..20usize) {
        let text = crate::templates()[which].text;
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let begin = at.index(places.len());
        let end = places.get(begin + cut).copied().unwrap_or(text.len());
        sane(&format!("{}{by}{}", &text[..places[begin]], &text[end..]), Format::Yaml)?;
    }
}

/// It does not panic; errors are inside of the text, sorted, and never none.
fn sane(text: &str, format: Format) -> Result<(), TestCaseError> {
    let lines = text.split(['\n', '\r']).count();
    match read(text, format) {
        Ok(checked) => prop_assert_eq!(engine::recipes::fault(&checked.recipe), None),
        Err(errors) => {
            prop_assert!(!errors.is_empty());
            prop_assert!(
                errors.iter().all(|error| error.line >= 1 && error.column >= 1 && error.line <= lines + 1),
                "{:?}",
                errors
            );
            prop_assert!(errors.is_sorted_by_key(|error| (error.line, error.column)));
        }
    }
    Ok(())
}

/// Values of words of the language, rightly and wrongly put together.
fn value() -> impl Strategy<Value = Json> {
    let words = [
        "id",
        "if",
        "run",
        "agent",
        "prompt",
        "task",
        "tasks",
        "title",
        "wait",
        "for",
        "event",
        "matching",
        "branch",
        "steps",
        "else",
        "parallel",
        "branches",
        "join",
        "at_least",
        "for_each",
        "items",
        "as",
        "key",
        "notify",
        "to",
        "text",
        "merge",
        "call",
        "recipe",
        "inputs",
        "end",
        "success",
        "retry",
        "attempts",
        "output",
        "schema",
        "type",
        "accept",
        "after",
        "files",
        "workspace",
        "of",
        "timeout",
        "approve",
        "question",
        "who",
        "then",
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (-3..9).prop_map(Json::from),
        "[a-c{}%.| ]{0,8}".prop_map(Json::from),
        prop::sample::select(vec![
            "one",
            "two",
            "{{ inputs.x }}",
            "{{ steps.one.output }}",
            "steps.two",
            "30s",
            "all",
            "new",
            "command: make"
        ])
        .prop_map(Json::from),
    ];
    leaf.prop_recursive(6, 60, 5, move |inner| {
        let fields = prop::collection::vec((prop::sample::select(words.to_vec()), inner.clone()), 0..5);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Json::from),
            fields.prop_map(|fields| {
                Json::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
            }),
        ]
    })
}

#[test]
fn an_action_is_what_it_was_written_as() {
    // A text that looks like code stays data.
    let recipe = good("name: a\nsteps:\n- {id: a, run: [sh, -c, 'echo $HOME; $(id) `id`']}").recipe;
    let Action::Run(run) = &recipe.steps[0].action else { panic!("a command") };
    assert_eq!(run.argv[2].0, "echo $HOME; $(id) `id`");
}
