//! Checks that the type of every parameter and member is known (GEN-43, GEN-45).

use super::types::TypeTable;
use crate::diagnostic::{Code, Reporter};
use crate::model::{CType, Registry};
use crate::parse::Raw;
use crate::parse::types::TypeBody;
use std::collections::HashMap;

pub(super) fn check(registry: &Registry, table: &TypeTable<'_>, raw: &Raw<'_>, report: &mut Reporter<'_>) {
    let mut places: HashMap<&str, usize> = raw.types.iter().map(|raw| (raw.name, raw.at)).collect();
    places.extend(raw.commands.iter().map(|raw| (raw.name, raw.at)));
    let mut uses = Uses {
        registry,
        table,
        places,
        report,
    };
    for command in registry.commands.values().filter(|command| command.alias.is_none()) {
        for param in &command.params {
            uses.known(&command.name, &param.name, &param.ty);
            uses.not_a_struct_by_value(&command.name, &param.name, &param.ty);
        }
        match command.return_type.parse::<CType>() {
            Ok(ty) => {
                uses.known(&command.name, "return", &ty);
                uses.not_a_struct_by_value(&command.name, "return", &ty);
            }
            Err(error) => uses.fault(&command.name, Code::BadDeclaration, error.to_string()),
        }
    }
    for item in registry.structs.values() {
        item.members
            .iter()
            .for_each(|member| uses.known(&item.name, &member.name, &member.ty));
    }
    for pointer in registry.function_pointers.values() {
        pointer
            .params
            .iter()
            .for_each(|(name, ty)| uses.known(&pointer.name, name, ty));
        uses.known(&pointer.name, "return", &pointer.return_type);
    }
}

struct Uses<'r, 'a, 'p> {
    registry: &'r Registry,
    table: &'r TypeTable<'a>,
    places: HashMap<&'r str, usize>,
    report: &'r mut Reporter<'p>,
}

impl Uses<'_, '_, '_> {
    fn fault(&mut self, owner: &str, code: Code, text: String) {
        let at = self.places.get(owner).copied().unwrap_or(0);
        self.report.report(at, code, text);
    }

    /// Checks a type. Its base must be a type of the model or of C, and an array bound must be a number or a constant.
    fn known(&mut self, owner: &str, what: &str, ty: &CType) {
        let is_model_type = self.table.get(&ty.base).is_some_and(|raw| {
            let ends_here = self
                .table
                .end(raw.name)
                .is_some_and(|end| self.table.get(end.name).is_some());
            ends_here && !matches!(raw.body, TypeBody::Include | TypeBody::Define(_))
        });
        if !is_model_type && !self.table.is_c_type(&ty.base) {
            let text = format!(
                "`{what}` of `{owner}` has the type `{}`, which nothing defines",
                ty.base
            );
            self.fault(owner, Code::UnresolvedType, text);
        }
        for bound in &ty.array {
            if bound.parse::<u32>().is_err() && !self.registry.constants.contains_key(bound) {
                let text = format!("the bound `{bound}` of `{what}` of `{owner}` is no constant");
                self.fault(owner, Code::UnresolvedType, text);
            }
        }
    }

    fn not_a_struct_by_value(&mut self, owner: &str, what: &str, ty: &CType) {
        let is_struct = self
            .table
            .end(&ty.base)
            .is_some_and(|raw| matches!(raw.body, TypeBody::Struct { .. }));
        if is_struct && ty.pointers.is_empty() && ty.array.is_empty() {
            let text = format!("`{what}` of `{owner}` is the structure `{}` by value", ty.base);
            self.fault(owner, Code::StructByValue, text);
        }
    }
}
