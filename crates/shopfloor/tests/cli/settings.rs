//! Flag before environment before settings file before data directory.

use std::path::Path;

use shopfloor::{Cli, Failure, Layers, Settings};

/// The value of `hub` or `token`, and its origin.
fn settle(args: &[&str], env: &[(&str, &str)], file: &str) -> Result<Settings, Failure> {
    use clap::FromArgMatches;
    let args = ["shopfloor"].iter().chain(args).chain(&["project", "list"]).copied();
    let cli = Cli::from_arg_matches(&shopfloor::command().try_get_matches_from(args).unwrap()).unwrap();
    let env: Vec<(String, String)> = env.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let lookup = move |name: &str| env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    Settings::resolve(&cli.global, &Layers::new(lookup, Some("/etc/config.toml".into()), file)?)
}

fn hub(args: &[&str], env: &[(&str, &str)], file: &str) -> (String, String) {
    let hub = settle(args, env, file).unwrap().hub.unwrap();
    (hub.value, hub.origin.to_string())
}

fn data_dir_of_a_hub(url: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("hub.json"), format!(r#"{{"url":"{url}","pid":1}}"#)).unwrap();
    std::fs::write(dir.path().join("token"), "sf_local\n").unwrap();
    dir
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn flags_win_over_environment_and_file() {
    let (home, file) = (("HOME", "/nowhere"), "hub = \"http://file\"");
    let env = [home, ("SHOPFLOOR_HUB", "http://env")];
    assert_eq!(hub(&["--hub", "http://flag"], &env, file), ("http://flag".into(), "command line".into()));
    assert_eq!(hub(&[], &env, file), ("http://env".into(), "environment SHOPFLOOR_HUB".into()));
    assert_eq!(hub(&[], &[home, ("SHOPFLOOR_HUB", "")], file), ("http://file".into(), "/etc/config.toml".into()));
    assert!(settle(&[], &[home], "").unwrap().hub.is_none());
}

#[test]
fn a_data_directory_says_where_its_hub_is() {
    let dir = data_dir_of_a_hub("http://127.0.0.1:7");
    let args = ["--data-dir", text(dir.path())];
    let settings = settle(&args, &[], "hub = \"http://file\"").unwrap();
    assert_eq!(settings.hub.unwrap().value, "http://127.0.0.1:7", "a named directory says more than a settings file");
    let local = client::Token::Given("sf_local".to_owned());
    assert_eq!(settings.token.unwrap().value, local);
    let env = [("SHOPFLOOR_DATA_DIR", text(dir.path()))];
    assert_eq!(settle(&[], &env, "").unwrap().token.unwrap().value, local);
}

#[test]
fn an_agents_token_is_in_a_file_that_is_renewed() {
    let env = [("HOME", "/nowhere"), ("SHOPFLOOR_TOKEN_FILE", "/its/token")];
    let token = |args: &[&str], env: &[(&str, &str)], file: &str| settle(args, env, file).unwrap().token.unwrap().value;
    let given = |secret: &str| client::Token::Given(secret.to_owned());
    let renewed = client::Token::File("/its/token".into());
    assert_eq!(token(&[], &env, ""), renewed);
    assert_eq!(token(&[], &env, "token = \"sf_mine\""), renewed, "the agent is not the person");
    assert_eq!(token(&["--token", "sf_flag"], &env, ""), given("sf_flag"));
    assert_eq!(token(&["--token-file", "/mine"], &env, "token = \"x\""), client::Token::File("/mine".into()));
    assert_eq!(token(&[], &[env[0], env[1], ("SHOPFLOOR_TOKEN", "sf_env")], ""), given("sf_env"));
}

#[test]
fn the_local_token_is_only_for_the_local_hub() {
    let dir = data_dir_of_a_hub("http://127.0.0.1:7");
    let args = ["--data-dir", text(dir.path()), "--hub", "http://elsewhere:7"];
    assert!(settle(&args, &[], "").unwrap().token.is_none());
    let args = ["--data-dir", text(dir.path()), "--hub", "http://127.0.0.1:7/"];
    assert!(settle(&args, &[], "").unwrap().token.is_some());
}

#[test]
fn a_settings_file_is_checked() {
    let env = [("HOME", "/nowhere")];
    for (file, part) in [
        ("hup = \"x\"", "unknown key `hup`"),
        ("hub = 3", "`hub` (/etc/config.toml): must be a string"),
        ("hub = ", "could not read /etc/config.toml"),
        ("color = \"pink\"", "auto, always, never"),
    ] {
        let said = settle(&[], &env, file).unwrap_err().render(false);
        assert!(said.contains(part), "{file}: {said}");
    }
    assert!(settle(&[], &[], "").unwrap_err().render(false).contains("--data-dir"));
}
