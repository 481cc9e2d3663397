//! Right recipes: what they become, in every format.

use std::fs;

use engine::recipes::model::{Action, Idempotency, Join, Place};
use serde_json::Value as Json;

use super::corpus::{blesses, file};
use super::{good, lines};
use crate::{Format, format_of, hash, read};

/// Reads a file below `corpus/good`.
fn checked(name: &str) -> crate::Checked {
    let text = fs::read_to_string(file(name)).unwrap();
    read(&text, format_of(name)).unwrap_or_else(|errors| panic!("{name}\n{}", lines(&errors)))
}

#[test]
fn every_field_comes_into_the_model() {
    let checked = checked("good/every.yaml");
    assert_eq!(checked.warnings, []);
    let model = serde_json::to_string_pretty(&checked.recipe).unwrap() + "\n";
    if blesses() {
        fs::write(file("good/every.model.json"), &model).unwrap();
    }
    assert_eq!(model, fs::read_to_string(file("good/every.model.json")).unwrap());
}

#[test]
fn the_model_reads_back() {
    let recipe = checked("good/every.yaml").recipe;
    let stored = serde_json::to_string(&recipe).unwrap();
    let back: engine::recipes::model::Recipe = serde_json::from_str(&stored).unwrap();
    assert_eq!(back, recipe);
    assert_eq!(hash(&back), hash(&recipe));
    assert_eq!(engine::recipes::fault(&recipe), None);
}

#[test]
fn the_formats_give_one_recipe() {
    let yaml = checked("good/small.yaml");
    for name in ["good/small.toml", "good/small.json"] {
        let other = checked(name);
        assert_eq!(other.recipe, yaml.recipe, "{name}");
        assert_eq!(other.hash, yaml.hash, "{name}");
    }
    assert!(yaml.hash.starts_with("sha256:") && yaml.hash.len() == 71, "{}", yaml.hash);
}

#[test]
fn the_hash_is_of_the_content() {
    let one = good("name: a\nsteps: [{id: one, run: [make]}]").hash;
    assert_eq!(good("# note\nsteps:\n- run:\n  - make\n  id: one\nname: \"a\"\n").hash, one);
    assert_eq!(good("name: a\nsteps: [{id: one, run: {argv: [make], workspace: shared}}]").hash, one);
    assert_ne!(good("name: a\nsteps: [{id: one, run: [test]}]").hash, one);
    // Stored versions are known by it: it must not change.
    assert_eq!(one, "sha256:6ddb67950ce8dbf02c27df5ee967a48461f793f0c074133881e9eba1c6a61f81");
}

#[test]
fn effects_that_must_not_happen_twice_say_so_by_themselves() {
    let recipe = checked("good/every.yaml").recipe;
    let of = |id: &str| recipe.steps.iter().find(|step| step.id == id).map(|step| step.idempotency);
    assert_eq!(of("profile"), Some(Idempotency::AtMostOnce));
    assert_eq!(of("tell"), Some(Idempotency::AtMostOnce));
    assert_eq!(of("land"), Some(Idempotency::AtMostOnce));
    assert_eq!(of("test"), Some(Idempotency::AtLeastOnce));
    let own = good("name: a\nsteps: [{id: one, agent: x, idempotency: at_least_once}]").recipe;
    assert_eq!(own.steps[0].idempotency, Idempotency::AtLeastOnce);
}

#[test]
fn short_forms_mean_the_long_ones() {
    let recipe = good(
        "name: a\ninputs: {list: array, issue: integer}\nsteps:\n\
         - {id: one, agent: reviewer}\n\
         - {id: two, run: '{{ inputs.list }}', if: '{{ inputs.issue > 0 }}'}\n\
         - {id: three, run: [make, 3, true], if: true}\n\
         - {id: four, parallel: {join: {at_least: 1}, branches: {l: [{id: x, run: {argv: [make], workspace: {of: two}}}]}}}\n\
         - {id: five, task: {tasks: '{{ steps.two.output.tasks }}'}}\n\
         - {id: six, end: success}\n",
    );
    let steps = &recipe.recipe.steps;
    assert!(matches!(&steps[0].action, Action::Agent(agent) if agent.profile.as_ref().unwrap().0 == "reviewer"));
    let Action::Run(run) = &steps[1].action else { panic!("a command") };
    assert_eq!((run.argv.len(), run.argv_of.as_ref().unwrap().0.as_str()), (0, "inputs.list"));
    assert_eq!(steps[1].when.as_ref().unwrap().0, "inputs.issue > 0");
    let Action::Run(run) = &steps[2].action else { panic!("a command") };
    assert_eq!(run.argv.iter().map(|word| word.0.as_str()).collect::<Vec<_>>(), ["make", "3", "true"]);
    let Action::Parallel { branches, join } = &steps[3].action else { panic!("a block") };
    assert_eq!(*join, Join::AtLeast(1));
    assert!(matches!(&branches[0].steps[0].action, Action::Run(run) if run.workspace == Place::Of("two".into())));
    let Action::Task { tasks } = &steps[4].action else { panic!("tasks") };
    assert_eq!(tasks, &[Json::from("{{ steps.two.output.tasks }}")]);
}

#[test]
fn warnings_do_not_stop_a_recipe() {
    let checked = good(
        "name: a\nsteps:\n- {id: build-it, run: [make]}\n- {id: ask, approve: {question: x}, needs: [rust]}\n\
         - {id: stop, end: success}\n- {id: never, run: [make]}\n- {id: nor, run: [make]}\n",
    );
    assert_eq!(
        lines(&checked.warnings),
        "line 3, column 8, steps[0].id: an id with `-` cannot be used in expressions: `a-b` there is a subtraction; \
         write `build_it`\n\
         line 4, column 44, steps[1].needs: has no effect: `approve` runs on no runner\n\
         line 6, column 3, steps[3]: never runs: the step `stop` before it always ends the execution\n"
    );
}

#[test]
fn outputs_are_usable_where_they_exist() {
    // Before, around, in the same lane, and of a whole block.
    good(
        "name: a\ninputs: {list: array}\noutputs: {all: steps.each.output, n: '{{ steps.one.output.n }}'}\nsteps:\n\
         - {id: one, run: [make]}\n\
         - id: each\n  for_each:\n    items: steps.one.output.items\n    as: thing\n    key: thing.id\n    steps:\n\
         \x20   - {id: x, run: [make, '{{ thing.name }}', '{{ key }}', '{{ steps.one.output.n }}']}\n\
         \x20   - {id: y, if: steps.x.status == 'failed' and steps.x.error.kind == 'lost', run: [make]}\n\
         - {id: wait, wait: {event: push, matching: event.branch == steps.one.output.branch and event.by in inputs.list}}\n\
         - {id: tell, notify: {to: '{{ execution.person }}', text: '{% for e in steps.each.output if e %}{{ e.n|default(1) }}{% endfor %}{{ trigger.x }}'}}\n",
    );
}

#[test]
fn names_and_formats_are_guessed() {
    assert_eq!(crate::name("name: a\nsteps: 3", Format::Yaml).as_deref(), Some("a"));
    assert_eq!(crate::name("name: [", Format::Yaml), None);
    assert_eq!((format_of("a.TOML"), format_of("b.json"), format_of("c")), (Format::Toml, Format::Json, Format::Yaml));
}
