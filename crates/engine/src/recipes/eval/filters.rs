//! Filters and tests of expressions: those of minijinja whose result cannot outgrow its input, and bounded ones.

use std::fmt::Write as _;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value, filters, tests};

use super::bounded::Bounded;
use crate::recipes::limits;

/// An environment without a clock, randomness, files or functions.
pub(super) fn environment() -> Environment<'static> {
    let mut env = Environment::empty();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_fuel(Some(limits::FUEL));
    env.set_recursion_limit(32);
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
        env.set_syntax(syntax);
    }
    env.set_formatter(|out, _, value| {
        if value.is_undefined() {
            return Err(Error::from(ErrorKind::UndefinedError));
        }
        out.write_str(&text(value)?).map_err(Error::from)
    });
    // They grow with each use, and nothing here is HTML.
    for name in ["escape", "e", "safe"] {
        env.remove_filter(name);
    }
    add_filters(&mut env);
    add_tests(&mut env);
    env
}

fn add_filters(env: &mut Environment<'static>) {
    env.add_filter("lower", filters::lower);
    env.add_filter("upper", filters::upper);
    env.add_filter("title", filters::title);
    env.add_filter("capitalize", filters::capitalize);
    env.add_filter("trim", filters::trim);
    env.add_filter("length", filters::length);
    env.add_filter("count", filters::length);
    env.add_filter("items", filters::items);
    env.add_filter("reverse", filters::reverse);
    env.add_filter("split", filters::split);
    env.add_filter("lines", filters::lines);
    env.add_filter("default", filters::default);
    env.add_filter("round", filters::round);
    env.add_filter("abs", filters::abs);
    env.add_filter("int", filters::int);
    env.add_filter("float", filters::float);
    env.add_filter("bool", filters::bool);
    env.add_filter("first", filters::first);
    env.add_filter("last", filters::last);
    env.add_filter("min", filters::min);
    env.add_filter("max", filters::max);
    env.add_filter("sort", filters::sort);
    env.add_filter("list", filters::list);
    env.add_filter("unique", filters::unique);
    env.add_filter("sum", filters::sum);
    env.add_filter("select", filters::select);
    env.add_filter("reject", filters::reject);
    env.add_filter("selectattr", filters::selectattr);
    env.add_filter("rejectattr", filters::rejectattr);
    env.add_filter("join", join);
    env.add_filter("replace", replace);
    env.add_filter("string", string);
    env.add_filter("tojson", tojson);
    env.add_filter("indent", indent);
    env.add_filter("map", map);
    env.add_filter("times", times);
}

fn add_tests(env: &mut Environment<'static>) {
    env.add_test("defined", tests::is_defined);
    env.add_test("undefined", tests::is_undefined);
    env.add_test("none", tests::is_none);
    env.add_test("boolean", tests::is_boolean);
    env.add_test("odd", tests::is_odd);
    env.add_test("even", tests::is_even);
    env.add_test("number", tests::is_number);
    env.add_test("integer", tests::is_integer);
    env.add_test("string", tests::is_string);
    env.add_test("sequence", tests::is_sequence);
    env.add_test("mapping", tests::is_mapping);
    env.add_test("startingwith", tests::is_startingwith);
    env.add_test("endingwith", tests::is_endingwith);
    env.add_test("eq", tests::is_eq);
    env.add_test("ne", tests::is_ne);
    env.add_test("lt", tests::is_lt);
    env.add_test("le", tests::is_le);
    env.add_test("gt", tests::is_gt);
    env.add_test("ge", tests::is_ge);
    env.add_test("in", tests::is_in);
    env.add_test("true", tests::is_true);
    env.add_test("false", tests::is_false);
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}

fn too_large() -> Error {
    invalid(format!("a value is larger than {} KiB", limits::RENDERED / 1024))
}

/// A text as it is, everything else as JSON; unless it is too large.
fn text(value: &Value) -> Result<String, Error> {
    match value.as_str() {
        Some(text) if text.len() > limits::RENDERED => Err(too_large()),
        Some(text) => Ok(text.to_owned()),
        None => tojson(value),
    }
}

fn join(values: &Value, between: Option<&str>) -> Result<String, Error> {
    let mut out = Bounded::default();
    for (at, value) in values.try_iter()?.enumerate() {
        let between = between.filter(|_| at > 0).unwrap_or_default();
        for part in [between, &text(&value)?] {
            out.write_str(part).map_err(|_| too_large())?;
        }
    }
    Ok(out.text)
}

fn replace(value: &str, from: &str, to: &str) -> Result<String, Error> {
    let grown = value.matches(from).count().saturating_mul(to.len()).saturating_add(value.len());
    match grown > limits::RENDERED {
        true => Err(too_large()),
        false => Ok(value.replace(from, to)),
    }
}

fn string(value: &Value) -> Result<String, Error> {
    text(value)
}

fn tojson(value: &Value) -> Result<String, Error> {
    let mut out = Bounded::default();
    match serde_json::to_writer(&mut out, value) {
        Ok(()) => Ok(out.text),
        Err(_) if out.full => Err(too_large()),
        Err(error) => Err(invalid(format!("this has no JSON: {error}"))),
    }
}

fn indent(value: &str, width: usize) -> Result<String, Error> {
    let grown = value.lines().count().saturating_mul(width).saturating_add(value.len());
    if grown > limits::RENDERED {
        return Err(too_large());
    }
    Ok(value.replace('\n', &format!("\n{}", " ".repeat(width))))
}

/// `tasks|map(attribute='name')`; other filters cannot be applied to each item.
fn map(values: &Value, arguments: Kwargs) -> Result<Vec<Value>, Error> {
    let attribute: &str = arguments.get("attribute")?;
    arguments.assert_all_used()?;
    let one = |value: Value| {
        attribute.split('.').try_fold(value, |value, name| match value.get_attr(name) {
            Ok(found) if !found.is_undefined() => Ok(found),
            _ => Err(invalid(format!("an item has no `{name}`"))),
        })
    };
    values.try_iter()?.map(one).collect()
}

fn times(a: &Value, b: &Value) -> Result<Value, Error> {
    if a.kind() != ValueKind::Number || b.kind() != ValueKind::Number {
        return Err(invalid("only numbers can be multiplied"));
    }
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64()) {
        return a.checked_mul(b).map(Value::from).ok_or_else(|| invalid("the number is too large"));
    }
    let number = |value: &Value| f64::try_from(value.clone());
    Ok(Value::from(number(a)? * number(b)?))
}
