//! Reads types from a snapshot.

use super::entry::{Entries, Entry, SnapshotError};
use super::read_commands::declaration;
use super::write_types::struct_word;
use crate::model::{
    BaseType, Bitmask, Constant, Enum, Enumerant, FunctionPointer, Handle, Member, PlatformType, Struct, StructKind,
};
use std::collections::BTreeMap;

pub(super) fn handle(name: &str, facts: &mut Entries<'_>) -> Result<Handle, SnapshotError> {
    let yes_or_no = |text: &str| match text {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    };
    Ok(Handle {
        name: name.to_owned(),
        dispatchable: facts.required("dispatchable")?.value_by(yes_or_no)?,
        parent: facts.optional_text("parent")?,
        object_type: facts.required("object-type")?.text()?,
    })
}

pub(super) fn structs(mut entries: Entries<'_>) -> Result<BTreeMap<String, Struct>, SnapshotError> {
    let mut found = BTreeMap::new();
    for kind in [StructKind::Struct, StructKind::Union] {
        found.append(&mut entries.records(struct_word(kind), |name, facts| structure(name, kind, facts))?);
    }
    entries.finish().map(|()| found)
}

fn structure(name: &str, kind: StructKind, facts: &mut Entries<'_>) -> Result<Struct, SnapshotError> {
    Ok(Struct {
        name: name.to_owned(),
        kind,
        extends: facts
            .many("extends")
            .into_iter()
            .map(Entry::text)
            .collect::<Result<_, _>>()?,
        members: facts.many("member").into_iter().map(member).collect::<Result<_, _>>()?,
    })
}

fn member(entry: Entry<'_>) -> Result<Member, SnapshotError> {
    let ((ty, name), (values, len, object_type)) = entry.with_details(declaration, |details| {
        Ok((
            details.optional_text("values")?,
            details.optional_text("len")?,
            details.optional_text("object-type")?,
        ))
    })?;
    Ok(Member {
        name,
        ty,
        values,
        len,
        object_type,
    })
}

pub(super) fn enumeration(name: &str, facts: &mut Entries<'_>) -> Result<Enum, SnapshotError> {
    let holds = |text: &str| match text {
        "flags" => Some(true),
        "values" => Some(false),
        _ => None,
    };
    let bits = facts.required("bits")?.value_by(|text| text.parse().ok())?;
    let bitmask = facts.required("holds")?.value_by(holds)?;
    let mut enumerants = Vec::new();
    for entry in facts.many("value") {
        enumerants.push(entry.value_by(|text| {
            let (name, value) = text.split_once(' ')?;
            Some(Enumerant {
                name: name.to_owned(),
                value: value.parse().ok()?,
                alias: None,
            })
        })?);
    }
    for entry in facts.many("alias") {
        enumerants.push(entry.value_by(|text| {
            let (name, rest) = text.split_once(' ')?;
            let (value, alias) = rest.split_once(' ')?;
            Some(Enumerant {
                name: name.to_owned(),
                value: value.parse().ok()?,
                alias: Some(alias.to_owned()),
            })
        })?);
    }
    enumerants.sort();
    Ok(Enum {
        name: name.to_owned(),
        bits,
        bitmask,
        enumerants,
    })
}

pub(super) fn bitmask(name: &str, facts: &mut Entries<'_>) -> Result<Bitmask, SnapshotError> {
    Ok(Bitmask {
        name: name.to_owned(),
        bits: facts.required("bits")?.value_by(|text| text.parse().ok())?,
        bits_enum: facts.optional_text("enum")?,
    })
}

pub(super) fn base_type(name: &str, facts: &mut Entries<'_>) -> Result<BaseType, SnapshotError> {
    Ok(BaseType {
        name: name.to_owned(),
        target: facts.optional_text("target")?,
    })
}

pub(super) fn function_pointer(name: &str, facts: &mut Entries<'_>) -> Result<FunctionPointer, SnapshotError> {
    let params = facts.many("param").into_iter().map(|entry| {
        let (ty, name) = entry.value_by(declaration)?;
        Ok((name, ty))
    });
    Ok(FunctionPointer {
        name: name.to_owned(),
        params: params.collect::<Result<_, _>>()?,
        return_type: facts.required("returns")?.value_by(|text| text.parse().ok())?,
    })
}

pub(super) fn constant(name: &str, facts: &mut Entries<'_>) -> Result<Constant, SnapshotError> {
    Ok(Constant {
        name: name.to_owned(),
        ty: facts.required("type")?.text()?,
        value: facts.required("value")?.text()?,
    })
}

pub(super) fn platform_type(name: &str, facts: &mut Entries<'_>) -> Result<PlatformType, SnapshotError> {
    Ok(PlatformType {
        name: name.to_owned(),
        header: facts.required("header")?.text()?,
    })
}

pub(super) fn alias(_name: &str, facts: &mut Entries<'_>) -> Result<String, SnapshotError> {
    facts.required("target")?.text()
}
