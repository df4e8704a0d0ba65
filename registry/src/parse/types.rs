//! Reads `<types>`, which contains all definitions except commands and enumerants.

use super::attributes::{ApiList, apis, checked_name, definition_name, required_name};
use super::declarations;
use super::element::{Element, named};
use crate::declaration::named as named_declaration;
use crate::diagnostic::{Code, Reporter};
use crate::model::{CType, Member, StructKind};

/// Element `<type>`.
pub(crate) struct RawType<'a> {
    pub(crate) at: usize,
    pub(crate) name: &'a str,
    pub(crate) apis: ApiList<'a>,
    pub(crate) category: Option<&'a str>,
    pub(crate) body: TypeBody<'a>,
}

/// Definition in a `<type>`.
pub(crate) enum TypeBody<'a> {
    /// Alias of another type of the same category.
    Alias(&'a str),
    /// Header, of which only the name is known.
    Include,
    /// Macro with its C text.
    Define(String),
    /// Type that the header in `requires` defines.
    External(&'a str),
    /// Type of the C language, which needs no header.
    Builtin,
    Base(Option<CType>),
    Bitmask {
        flags: CType,
        bits_enum: Option<&'a str>,
    },
    Handle {
        macro_name: &'a str,
        parent: Option<&'a str>,
        object_type: Option<&'a str>,
    },
    Enum,
    FunctionPointer {
        params: Vec<(String, CType)>,
        return_type: CType,
    },
    Struct {
        kind: StructKind,
        members: Vec<RawMember<'a>>,
        extends: Option<&'a str>,
    },
}

/// Element `<member>`.
pub(crate) struct RawMember<'a> {
    pub(crate) at: usize,
    pub(crate) apis: ApiList<'a>,
    pub(crate) member: Member,
}

/// Types that C has without any header. Registries up to 1.4.335 list `int` with only a name.
const BUILTIN_TYPES: [&str; 5] = ["void", "char", "int", "float", "double"];

pub(super) fn read<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> Option<RawType<'a>> {
    let category = node.attribute("category");
    let has_proto = named(node, "proto").next().is_some();
    let name = definition_name(node, if has_proto { &["proto", "name"] } else { &["name"] }, report)?;
    let name = if category == Some("include") {
        name
    } else {
        checked_name(node, name, report)?
    };
    let apis = apis(node, "api", None, report);
    let body = if node.has_attribute("alias") {
        alias(node, report)
    } else {
        body(node, category, report)
    };
    Some(RawType {
        at: node.range().start,
        name,
        apis,
        category,
        body: body?,
    })
}

fn alias<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> Option<TypeBody<'a>> {
    if node.children().any(|child| child.is_element()) {
        report.report(
            node.range().start,
            Code::AliasWithPrototype,
            "an alias with a definition of its own",
        );
        return None;
    }
    required_name(node, "alias", report).map(TypeBody::Alias)
}

fn body<'a>(node: Element<'a>, category: Option<&str>, report: &mut Reporter<'_>) -> Option<TypeBody<'a>> {
    match category {
        Some("include") => Some(TypeBody::Include),
        Some("define") => Some(TypeBody::Define(declarations::spliced(node))),
        Some("basetype") => base(node, report),
        Some("bitmask") => bitmask(node, report),
        Some("handle") => handle(node, report),
        Some("enum") => Some(TypeBody::Enum),
        Some("funcpointer") => function_pointer(node, report),
        Some("struct") => structure(node, StructKind::Struct, report),
        Some("union") => structure(node, StructKind::Union, report),
        Some(other) => {
            report.report(
                node.range().start,
                Code::BadValue,
                format!("unknown type category `{other}`"),
            );
            None
        }
        None => match node.attribute("requires") {
            Some(home) => Some(TypeBody::External(home)),
            None if BUILTIN_TYPES.contains(&node.attribute("name").unwrap_or_default()) => Some(TypeBody::Builtin),
            None => {
                report.report(
                    node.range().start,
                    Code::Missing,
                    "a type without category, alias or `requires`",
                );
                None
            }
        },
    }
}

fn bad<T>(node: Element<'_>, report: &mut Reporter<'_>) -> Option<T> {
    report.report(
        node.range().start,
        Code::BadDeclaration,
        "cannot take this type definition apart",
    );
    None
}

/// Reads a base type: `typedef X name;`, `struct name;`, or one of these forms in a conditional for Objective-C. The function reads the C
/// branch of a conditional (GEN-44).
fn base<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> Option<TypeBody<'a>> {
    let text = declarations::spliced(node);
    let c_branch = match text.split_once("#else") {
        Some((_, rest)) => rest.split("#endif").next().unwrap_or_default(),
        None => text.as_str(),
    };
    let Some(statement) = c_branch.trim().strip_suffix(';') else {
        return bad(node, report);
    };
    let Some(declaration) = statement.strip_prefix("typedef ") else {
        return if statement.starts_with("struct ") {
            Some(TypeBody::Base(None))
        } else {
            bad(node, report)
        };
    };
    match named_declaration(declaration) {
        Ok((name, ty)) if !name.is_empty() => Some(TypeBody::Base(Some(ty))),
        _ => bad(node, report),
    }
}

fn bitmask<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> Option<TypeBody<'a>> {
    let text = declarations::spliced(node);
    let declaration = text
        .trim()
        .strip_prefix("typedef ")
        .and_then(|text| text.strip_suffix(';'));
    match declaration.map(named_declaration) {
        Some(Ok((name, flags))) if !name.is_empty() => {
            let bits_enum = node.attribute("bitvalues").or(node.attribute("requires"));
            Some(TypeBody::Bitmask { flags, bits_enum })
        }
        _ => bad(node, report),
    }
}

fn handle<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> Option<TypeBody<'a>> {
    let (parent, object_type) = (node.attribute("parent"), node.attribute("objtypeenum"));
    match named(node, "type").next().and_then(|child| child.text()) {
        Some(macro_name) => Some(TypeBody::Handle {
            macro_name,
            parent,
            object_type,
        }),
        None => bad(node, report),
    }
}

/// Reads a function pointer from `<proto>` and `<param>` children, or from flat text as in older registries (GEN-42).
fn function_pointer<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> Option<TypeBody<'a>> {
    if let Some(proto) = named(node, "proto").next() {
        let params: Option<Vec<_>> = named(node, "param")
            .map(|param| declarations::read(param, report).map(|(name, ty)| (name.to_owned(), ty)))
            .collect();
        let (_, return_type) = declarations::read(proto, report)?;
        return Some(TypeBody::FunctionPointer {
            params: params?,
            return_type,
        });
    }
    match flat_function_pointer(&declarations::spliced(node)) {
        Some((return_type, params)) => Some(TypeBody::FunctionPointer { params, return_type }),
        None => bad(node, report),
    }
}

type FlatPointer = (CType, Vec<(String, CType)>);

/// Parses the text `typedef R (VKAPI_PTR *PFN_x)(A a, B b);`.
fn flat_function_pointer(text: &str) -> Option<FlatPointer> {
    let text = text.trim().strip_prefix("typedef ")?.strip_suffix(");")?;
    let (return_type, rest) = text.split_once("(VKAPI_PTR *")?;
    let (_, list) = rest.split_once(")(")?;
    let return_type = return_type.trim().parse().ok()?;
    if list.trim() == "void" {
        return Some((return_type, Vec::new()));
    }
    let params: Option<Vec<_>> = list
        .split(',')
        .map(|param| match named_declaration(param) {
            Ok((name, ty)) if !name.is_empty() => Some((name.to_owned(), ty)),
            _ => None,
        })
        .collect();
    Some((return_type, params?))
}

fn structure<'a>(node: Element<'a>, kind: StructKind, report: &mut Reporter<'_>) -> Option<TypeBody<'a>> {
    let members: Vec<_> = named(node, "member")
        .map(|member| read_member(member, report))
        .collect();
    let members = members.into_iter().collect::<Option<_>>()?;
    Some(TypeBody::Struct {
        kind,
        members,
        extends: node.attribute("structextends"),
    })
}

fn read_member<'a>(node: Element<'a>, report: &mut Reporter<'_>) -> Option<RawMember<'a>> {
    let apis = apis(node, "api", None, report);
    let (name, ty) = declarations::read(node, report)?;
    let member = Member {
        name: name.to_owned(),
        ty,
        values: node.attribute("values").map(str::to_owned),
        len: node.attribute("len").map(str::to_owned),
        object_type: node.attribute("objecttype").map(str::to_owned),
    };
    Some(RawMember {
        at: node.range().start,
        apis,
        member,
    })
}
