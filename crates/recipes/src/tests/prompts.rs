//! Prompts in files of their own.

use std::collections::BTreeMap;

use engine::recipes::model::Action;

use crate::{Format, inline, prompt_files, read};

const PROMPT: &str = "Fix \"it\":\n\n  - ärgerlich\t\\n {{ inputs.issue }}\n";

#[test]
fn prompt_files_are_inlined() {
    let recipes = [
        (
            Format::Yaml,
            "name: a\ninputs: {issue: string}\nsteps:\n- id: ä\n  agent:\n    prompt_file: p/fix.md # why\n    agent: x\n\
             - {id: two, agent: {prompt_file: 'p/fix.md', agent: y}}\n"
                .replace("id: ä", "id: one"),
        ),
        (
            Format::Toml,
            "name = 'a'\ninputs.issue = 'string'\n[[steps]]\nid = 'one'\nagent.prompt_file = \"p/fix.md\"\n\
             [[steps]]\nid = 'two'\nagent = { prompt_file = 'p/fix.md' }\n"
                .to_owned(),
        ),
        (
            Format::Json,
            r#"{"name": "a", "inputs": {"issue": "string"}, "steps": [{"id": "one", "agent": {"prompt_file": "p/fix.md"}},
              {"id": "two", "agent": {"prompt_file" : "p/fix.md", "agent": "x"}}]}"#
                .to_owned(),
        ),
    ];
    for (format, text) in recipes {
        let files = prompt_files(&text, format).unwrap();
        assert_eq!(files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["p/fix.md"; 2], "{text}");
        let contents = BTreeMap::from([("p/fix.md".to_owned(), PROMPT.to_owned())]);
        let whole = inline(&text, format, &contents).unwrap();
        let recipe = read(&whole, format).unwrap_or_else(|errors| panic!("{whole}\n{}", super::lines(&errors))).recipe;
        for step in &recipe.steps {
            let Action::Agent(agent) = &step.action else { panic!("an agent") };
            assert_eq!(agent.prompt.as_ref().unwrap().0, PROMPT, "{whole}");
        }
    }
}

#[test]
fn a_file_that_is_not_there_is_an_error_at_its_place() {
    let text = "name: a\nsteps:\n- {id: one, agent: {prompt_file: a.md}}\n";
    let errors = inline(text, Format::Yaml, &BTreeMap::new()).unwrap_err();
    assert_eq!(errors[0].to_string(), "line 3, column 34: there is no file `a.md`");
}
