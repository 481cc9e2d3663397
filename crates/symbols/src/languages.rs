//! The languages, as data: to add one, add its grammar and a row.

use std::fmt;
use std::path::Path;

use tree_sitter_language::LanguageFn;

/// What a node of the syntax tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Code with a name: constants and variables inside it are part of it.
    Code,
    /// A type with a name: constants and variables inside it are symbols of their own.
    Type,
    /// A constant or variable, which is a symbol unless it is inside code.
    Value,
    /// Gives its name to the symbols inside it, but is none.
    Scope,
}

/// A kind of node that is a symbol or a scope.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The node's name in the grammar.
    pub(crate) node: &'static str,
    /// What it is.
    pub(crate) role: Role,
    /// How its name is made of its fields; the first form whose fields are all present is taken. `{type}` is the name of
    /// the field's type, `{type*}` the field's whole text.
    pub(crate) name: &'static [&'static str],
}

/// A language whose symbols are found.
pub struct Language {
    /// Its name.
    pub name: &'static str,
    extensions: &'static [&'static str],
    pub(crate) grammar: LanguageFn,
    /// What is between the parts of a qualified name.
    pub(crate) separator: &'static str,
    pub(crate) kinds: &'static [Kind],
    /// Nodes that belong to the symbol after them, such as attributes.
    pub(crate) prefixes: &'static [&'static str],
    /// Nodes around a [`Role::Value`] that do not make it part of some code.
    pub(crate) through: &'static [&'static str],
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Language {
    /// The language of a file, by its name.
    pub fn of(path: &Path) -> Option<&'static Self> {
        let extension = path.extension()?.to_str()?;
        LANGUAGES.iter().find(|language| language.extensions.contains(&extension))
    }

    /// All languages.
    pub fn all() -> &'static [Self] {
        LANGUAGES
    }
}

const fn kind(node: &'static str, role: Role, name: &'static [&'static str]) -> Kind {
    Kind { node, role, name }
}

const NAME: &[&str] = &["{name*}"];

static LANGUAGES: &[Language] = &[
    Language {
        name: "Rust",
        extensions: &["rs"],
        grammar: tree_sitter_rust::LANGUAGE,
        separator: "::",
        kinds: &[
            kind("function_item", Role::Code, NAME),
            kind("function_signature_item", Role::Code, NAME),
            kind("macro_definition", Role::Code, NAME),
            kind("struct_item", Role::Type, NAME),
            kind("enum_item", Role::Type, NAME),
            kind("union_item", Role::Type, NAME),
            kind("trait_item", Role::Type, NAME),
            kind("type_item", Role::Type, NAME),
            kind("associated_type", Role::Type, NAME),
            kind("const_item", Role::Value, NAME),
            kind("static_item", Role::Value, NAME),
            kind("mod_item", Role::Scope, NAME),
            kind("impl_item", Role::Scope, &["<{type} as {trait*}>", "{type}"]),
        ],
        prefixes: &["attribute_item"],
        through: &["source_file", "declaration_list"],
    },
    Language {
        name: "TypeScript",
        extensions: &["ts", "mts", "cts"],
        grammar: tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        ..TSX
    },
    TSX,
    Language {
        name: "Python",
        extensions: &["py", "pyi"],
        grammar: tree_sitter_python::LANGUAGE,
        separator: ".",
        kinds: &[
            kind("function_definition", Role::Code, NAME),
            kind("class_definition", Role::Type, NAME),
            kind("assignment", Role::Value, &["{left*}"]),
        ],
        prefixes: &["decorator"],
        through: &["module", "block", "expression_statement", "decorated_definition"],
    },
    Language {
        name: "Go",
        extensions: &["go"],
        grammar: tree_sitter_go::LANGUAGE,
        separator: ".",
        kinds: &[
            kind("function_declaration", Role::Code, NAME),
            kind("method_declaration", Role::Code, &["{receiver}.{name*}"]),
            kind("type_spec", Role::Type, NAME),
            kind("type_alias", Role::Type, NAME),
            kind("const_spec", Role::Value, NAME),
            kind("var_spec", Role::Value, NAME),
        ],
        prefixes: &[],
        through: &["source_file", "const_declaration", "var_declaration", "var_spec_list"],
    },
];

/// Takes all of JavaScript, too.
const TSX: Language = Language {
    name: "TSX",
    extensions: &["tsx", "js", "mjs", "cjs", "jsx"],
    grammar: tree_sitter_typescript::LANGUAGE_TSX,
    separator: ".",
    kinds: &[
        kind("function_declaration", Role::Code, NAME),
        kind("generator_function_declaration", Role::Code, NAME),
        kind("function_signature", Role::Code, NAME),
        kind("method_definition", Role::Code, NAME),
        kind("method_signature", Role::Code, NAME),
        kind("abstract_method_signature", Role::Code, NAME),
        kind("class_declaration", Role::Type, NAME),
        kind("abstract_class_declaration", Role::Type, NAME),
        kind("interface_declaration", Role::Type, NAME),
        kind("type_alias_declaration", Role::Type, NAME),
        kind("enum_declaration", Role::Type, NAME),
        kind("public_field_definition", Role::Value, NAME),
        kind("variable_declarator", Role::Value, NAME),
        kind("internal_module", Role::Scope, NAME),
        kind("module", Role::Scope, NAME),
    ],
    prefixes: &["decorator"],
    through: &[
        "program",
        "export_statement",
        "ambient_declaration",
        "lexical_declaration",
        "variable_declaration",
        "class_body",
        "expression_statement",
        "statement_block",
    ],
};
