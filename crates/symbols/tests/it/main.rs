//! Symbols of each language, and what changes them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hostile;
mod support;

use support::{changes, names};

const RUST: &str = r#"
use std::fmt;
/// A parser.
#[derive(Debug)]
pub struct Parser<'a> { text: &'a str }
const LIMIT: usize = 3;
impl<'a> Parser<'a> {
    const STEP: usize = 1;
    #[inline]
    pub fn next(&mut self) -> Option<char> {
        fn inner(n: usize) -> usize { n }
        const LOCAL: usize = 2;
        self.text.chars().nth(inner(LOCAL))
    }
}
impl fmt::Display for Parser<'_> { fn fmt(&self) { write!("a  b") } }
trait Walk { fn walk(&self); }
enum Kind { One, Two }
macro_rules! words { () => {} }
mod deep { pub mod er { pub fn bottom() { 1 == 2; } } }
"#;

const TYPESCRIPT: &str = r#"
import x from "y";
export interface Shape { area(): number; name: string }
export type Id = string;
export enum Color { Red }
const LIMIT = 3;
export const add = (a: number, b: number) => { const sum = a + b; return `${sum} done`; };
@sealed
export default class Square implements Shape {
  #side = 1;
  name = "square";
  constructor(side: number) { this.#side = side; }
  get area() { const helper = () => 1; return helper(); }
}
export function* walk<T>(all: T[]): Iterator<T> { function step() { return 1; } yield all[step()]; }
namespace Deep { export function bottom() { return <b>x</b>; } }
describe("x", () => { const local = 1; });
"#;

const PYTHON: &str = r#"
import os
LIMIT = 3
class Parser(Base):
    """Parses."""
    step = 1
    @property
    def next(self):
        found = 1
        def inner():
            return found
        if found:
            found = 2
        return inner()
    class Inner:
        def deep(self): pass
async def main(*args): return "a  b"
"#;

const GO: &str = r#"
package p
import "fmt"
const Limit = 3
var a, b = 1, 2
type Parser struct { text string }
type Walker interface { Walk() error }
// Next reads.
func (p *Parser) Next() rune {
	var local = 1
	return rune(p.text[local])
}
func (l List[T]) Len() int { return 0 }
func main() { fmt.Println("a  b") }
"#;

#[test]
fn every_language_names_its_symbols() {
    assert_eq!(
        names("a.rs", RUST),
        [
            "<Parser as fmt::Display>::fmt",
            "Kind",
            "LIMIT",
            "Parser",
            "Parser::STEP",
            "Parser::next",
            "Parser::next::inner",
            "Walk",
            "Walk::walk",
            "deep::er::bottom",
            "words",
        ]
    );
    for file in ["a.tsx", "a.js", "a.mjs"] {
        assert_eq!(
            names(file, TYPESCRIPT),
            [
                "Color",
                "Deep.bottom",
                "Id",
                "LIMIT",
                "Shape",
                "Shape.area",
                "Square",
                "Square.#side",
                "Square.area",
                "Square.constructor",
                "Square.name",
                "add",
                "walk",
                "walk.step",
            ]
        );
    }
    assert_eq!(
        names("a.py", PYTHON),
        [
            "LIMIT",
            "Parser",
            "Parser.Inner",
            "Parser.Inner.deep",
            "Parser.next",
            "Parser.next.inner",
            "Parser.step",
            "main",
        ]
    );
    let go = ["Limit", "List.Len", "Parser", "Parser.Next", "Walker", "a", "main"];
    assert_eq!(names("a.go", GO), go);
}

#[test]
fn an_edit_changes_the_innermost_symbol() {
    let cases = [
        ("a.rs", RUST, "nth(inner", "find(inner", "~Parser::next"),
        ("a.rs", RUST, "{ n }", "{ n + 1 }", "~Parser::next::inner"),
        ("a.rs", RUST, "LOCAL: usize = 2", "LOCAL: usize = 3", "~Parser::next"),
        ("a.rs", RUST, "STEP: usize = 1", "STEP: usize = 3", "~Parser::STEP"),
        ("a.rs", RUST, "#[inline]", "#[cold]", "~Parser::next"),
        ("a.rs", RUST, "#[derive(Debug)]", "#[derive(Clone)]", "~Parser"),
        ("a.rs", RUST, "a  b", "a b", "~<Parser as fmt::Display>::fmt"),
        ("a.rs", RUST, "1 == 2", "1 != 2", "~deep::er::bottom"),
        ("a.rs", RUST, "() => {}", "() => {1}", "~words"),
        ("a.rs", RUST, "One, Two", "One", "~Kind"),
        ("a.rs", RUST, "use std::fmt;", "use std::io;", ""),
        ("a.tsx", TYPESCRIPT, "sum} done", "sum} made", "~add"),
        ("a.tsx", TYPESCRIPT, "const sum = a", "const sum = b", "~add"),
        ("a.tsx", TYPESCRIPT, "helper = () => 1", "helper = () => 2", "~Square.area"),
        ("a.tsx", TYPESCRIPT, "\"square\"", "\"box\"", "~Square.name"),
        ("a.tsx", TYPESCRIPT, "name: string", "name: number", "~Shape"),
        ("a.tsx", TYPESCRIPT, "<b>x</b>", "<i>x</i>", "~Deep.bottom"),
        ("a.tsx", TYPESCRIPT, "const local = 1", "const local = 2", ""),
        ("a.py", PYTHON, "found = 1", "found = 3", "~Parser.next"),
        ("a.py", PYTHON, "return found", "return 1", "~Parser.next.inner"),
        ("a.py", PYTHON, "@property", "@cached", "~Parser.next"),
        ("a.py", PYTHON, "        return inner()", "            return inner()", "~Parser.next"),
        ("a.py", PYTHON, "a  b", "a b", "~main"),
        ("a.py", PYTHON, "step = 1", "step = 2", "~Parser.step"),
        ("a.py", PYTHON, "(Base)", "(Other)", "~Parser"),
        ("a.go", GO, "local = 1", "local = 2", "~Parser.Next"),
        ("a.go", GO, "text string", "text []byte", "~Parser"),
        ("a.go", GO, "Limit = 3", "Limit = 4", "~Limit"),
        ("a.go", GO, "a  b", "a b", "~main"),
    ];
    for (file, text, old, new, expected) in cases {
        assert!(text.contains(old), "{old}");
        assert_eq!(changes(file, text, &text.replacen(old, new, 1)), expected, "{file}: {old} → {new}");
    }
}

#[test]
fn a_renamed_symbol_is_gone_and_new() {
    assert_eq!(changes("a.rs", RUST, &RUST.replace("bottom", "top")), "-deep::er::bottom +deep::er::top");
    assert_eq!(changes("a.go", GO, &GO.replace("Next()", "Read()")), "-Parser.Next +Parser.Read");
    let new = PYTHON.replace("def deep", "def deeper");
    assert_eq!(changes("a.py", PYTHON, &new), "-Parser.Inner.deep +Parser.Inner.deeper");
    assert_eq!(changes("a.tsx", TYPESCRIPT, &TYPESCRIPT.replace("get area", "get size")), "-Square.area +Square.size");
}

#[test]
fn lines_that_shift_and_comments_change_nothing() {
    for (file, text, comment) in [
        ("a.rs", RUST, " // x\n"),
        ("a.tsx", TYPESCRIPT, " // x\n"),
        ("a.py", PYTHON, "  # x\n"),
        ("a.go", GO, " // x\n"),
    ] {
        assert_eq!(changes(file, text, &format!("\n\n{comment}{text}\n\n{comment}")), "", "{file}");
        assert_eq!(changes(file, text, &text.replace('\n', comment)), "", "{file}");
        assert_eq!(changes(file, text, &text.replace('\n', "\r\n")), "", "{file}");
    }
    assert_eq!(changes("a.rs", RUST, &RUST.replace("{ 1 == 2; }", "{\n    1\n    == 2;\n}")), "");
}

#[test]
fn a_symbol_that_moves_is_the_same() {
    let one = "fn a() { 1 }\nimpl X { fn m(&self) {} fn n(&self) {} }\nfn b() { 2 }\n";
    let other = "fn b() { 2 }\nimpl X { fn n(&self) {} }\nfn a() { 1 }\nimpl X { fn m(&self) {} }\n";
    assert_eq!(changes("a.rs", one, other), "");
}

#[test]
fn a_container_does_not_change_with_what_it_contains() {
    let cases = [
        ("a.rs", "trait T {\n    fn a();\n}\n", "trait T {\n    fn a();\n    #[must_use]\n    fn b();\n}\n", "+T::b"),
        ("a.ts", "class A {\n  a() {}\n}\n", "class A {\n  a() {}\n\n  @x b() {}\n}\n", "+A.b"),
        (
            "a.py",
            "class A:\n    def a(self): pass\n",
            "class A:\n    def a(self): pass\n    def b(self): pass\n",
            "+A.b",
        ),
    ];
    for (file, old, new, expected) in cases {
        assert_eq!(changes(file, old, new), expected, "{file}");
    }
}

#[test]
fn symbols_with_one_name_are_told_apart_by_their_code() {
    let old = "class A { get x() { return 1; } set x(v) { f(v); } }\n";
    assert_eq!(changes("a.js", old, &old.replace("f(v)", "g(v)")), "~A.x");
    assert_eq!(changes("a.js", old, &old.replace("get x() { return 1; } ", "")), "-A.x");
}

#[test]
fn a_cast_may_look_like_a_tag() {
    let text = "export function a() { return 1; }\nexport const f = <T>(x: T) => { return x; };\n\
                export function g(n: number) { const z = <any>n; return z; }\nclass A {\n  m() { return 1; }\n}\n\
                export const last = 3;\n";
    assert_eq!(names("a.ts", text), ["A", "A.m", "a", "f", "g", "last"]);
}

#[test]
fn a_syntax_error_hides_symbols_but_removes_none() {
    let new = RUST.replace("pub fn next(&mut self)", "pub fn next(&mut self");
    let told = changes("a.rs", RUST, &new);
    assert!(!told.contains('-'), "{told}");
    let new = GO.replace("local = 1", "local = 2 +");
    assert!(changes("a.go", GO, &new).contains("~Parser.Next"));
}
