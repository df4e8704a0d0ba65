//! Selects the types to emit, finds the types that depend on the level of handles, and translates C types to Rust.

use super::problem::{Advice, Code, Problem, Problems};
use super::reach::resolve;
use crate::names::ident;
use crate::policy::Policy;
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use std::collections::BTreeSet;
use vk_registry::model::{CType, Command, Registry};

/// Level of the handles in a printed type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Any level, as the type parameter `L`.
    Any,
    /// Level of the application, above the loader.
    App,
    /// Level of the chain, between loader, layers and terminators.
    Chain,
    /// Level of a driver.
    Driver,
}

impl Place {
    fn tokens(self) -> TokenStream {
        match self {
            Self::Any => quote!(L),
            Self::App => quote!(App),
            Self::Chain => quote!(Chain),
            Self::Driver => quote!(Driver),
        }
    }
}

/// Emitted types, with the form in which each type is emitted.
pub struct TypePlan<'a> {
    registry: &'a Registry,
    policy: &'a Policy,
    /// Structures and unions that are emitted with all members.
    pub structs: BTreeSet<&'a str>,
    /// Types that occur only as targets of pointers.
    pub opaque: BTreeSet<&'a str>,
    /// Enumerations that are emitted.
    pub enums: BTreeSet<&'a str>,
    /// Flag types that are emitted.
    pub bitmasks: BTreeSet<&'a str>,
    /// Base types that are emitted.
    pub base_types: BTreeSet<&'a str>,
    /// Other names of emitted types.
    pub aliases: BTreeSet<&'a str>,
    /// Function-pointer types.
    pub function_pointers: BTreeSet<&'a str>,
    /// Platform types that occur by value.
    pub by_value: BTreeSet<&'a str>,
    /// Structures and function-pointer types whose Rust types have the type parameter `L`, the level of handles.
    generic: BTreeSet<&'a str>,
}

/// Rust spelling of plain C types, with their size on a 64-bit target.
pub(super) const PRIMITIVES: [(&str, &str, u32); 16] = [
    ("char", "c_char", 1),
    ("double", "f64", 8),
    ("float", "f32", 4),
    ("int", "c_int", 4),
    ("int16_t", "i16", 2),
    ("int32_t", "i32", 4),
    ("int64_t", "i64", 8),
    ("int8_t", "i8", 1),
    ("ptrdiff_t", "isize", 8),
    ("size_t", "usize", 8),
    ("uint16_t", "u16", 2),
    ("uint32_t", "u32", 4),
    ("uint64_t", "u64", 8),
    ("uint8_t", "u8", 1),
    ("unsigned", "u32", 4),
    ("void", "c_void", 1),
];

pub(super) fn primitive(name: &str) -> Option<(&'static str, u32)> {
    PRIMITIVES
        .iter()
        .find(|(c, ..)| *c == name)
        .map(|&(_, rust, size)| (rust, size))
}

impl<'a> TypePlan<'a> {
    pub(super) fn new(registry: &'a Registry, policy: &'a Policy, problems: &mut Problems) -> Self {
        let mut plan = Self {
            registry,
            policy,
            structs: BTreeSet::new(),
            opaque: BTreeSet::new(),
            enums: BTreeSet::new(),
            bitmasks: BTreeSet::new(),
            base_types: BTreeSet::new(),
            aliases: BTreeSet::new(),
            function_pointers: BTreeSet::new(),
            by_value: BTreeSet::new(),
            generic: BTreeSet::new(),
        };
        plan.take_roots(problems);
        for command in registry.commands.values() {
            plan.take_command(command, problems);
        }
        for extra in &policy.extras {
            for ty in extra.params.iter().map(|(_, ty)| ty).chain([&extra.returns]) {
                plan.take_name(&ty.0.base, ty.0.pointers.is_empty(), &extra.name, problems);
            }
        }
        let structs = std::mem::take(&mut plan.structs);
        plan.opaque.retain(|name| !structs.contains(name));
        plan.structs = structs;
        plan.find_generic();
        plan
    }

    fn take_roots(&mut self, problems: &mut Problems) {
        let (registry, policy) = (self.registry, self.policy);
        for name in policy.types.structs.iter().chain(&policy.types.enumerants) {
            let target = resolve(registry, name);
            if registry.structs.contains_key(target) || registry.enums.contains_key(target) {
                self.take_name(name, true, "policy", problems);
            } else {
                let text = "types: there is no such structure or enumeration";
                problems.push(Problem::new(Code::UnknownName, name, text));
            }
        }
        for name in policy.types.by_value.keys() {
            if !registry.platform_types.contains_key(name) && !registry.base_types.contains_key(name) {
                problems.push(Problem::new(
                    Code::UnknownName,
                    name,
                    "types.by-value: there is no such type",
                ));
            }
        }
        for name in registry.function_pointers.keys() {
            self.take_name(name, true, "registry", problems);
        }
    }

    fn take_command(&mut self, command: &'a Command, problems: &mut Problems) {
        for param in &command.params {
            // An array parameter is a pointer, so only the size of its elements must be known (GEN-40).
            let is_value = param.ty.pointers.is_empty();
            if is_value && param.ty.array.is_empty() && self.is_struct(&param.ty.base) {
                let text = format!("parameter {} is a structure by value (GEN-45)", param.name);
                problems.push(Problem::new(Code::StructByValue, &command.name, text));
            }
            self.take_name(&param.ty.base, is_value, &command.name, problems);
        }
        let base = command
            .return_type
            .trim_start_matches("const ")
            .trim_end_matches(['*', ' ']);
        let is_value = !command.return_type.contains('*');
        if is_value && self.is_struct(base) {
            problems.push(Problem::new(
                Code::StructByValue,
                &command.name,
                "returns a structure by value (GEN-45)",
            ));
        }
        self.take_name(base, is_value, &command.name, problems);
    }

    fn is_struct(&self, name: &str) -> bool {
        let target = self.registry.type_aliases.get(name).map_or(name, String::as_str);
        self.registry.structs.contains_key(target)
    }

    /// Adds a type, and the types that it contains by value.
    fn take_name(&mut self, name: &'a str, is_value: bool, user: &str, problems: &mut Problems) {
        if primitive(name).is_some() {
            return;
        }
        let registry = self.registry;
        let target = resolve(registry, name);
        if target != name {
            self.aliases.insert(name);
        }
        if let Some(structure) = registry.structs.get(target) {
            self.take_struct(structure, is_value, problems);
        } else if registry.enums.contains_key(target) {
            self.enums.insert(target);
        } else if registry.bitmasks.contains_key(target) {
            self.bitmasks.insert(target);
        } else if let Some(pointer) = registry.function_pointers.get(target) {
            if self.function_pointers.insert(target) {
                let types = pointer.params.iter().map(|(_, ty)| ty).chain([&pointer.return_type]);
                types.for_each(|ty| self.take_name(&ty.base, ty.pointers.is_empty(), target, problems));
            }
        } else if self.policy.types.by_value.contains_key(target) {
            self.by_value.insert(target);
        } else if let Some(base) = registry.base_types.get(target) {
            self.base_types.insert(target);
            if is_value && base.target.is_none() {
                let text = format!("{name} is opaque but occurs by value (GEN-44)");
                problems.push(Problem::new(Code::UnknownByValue, user, text));
            }
        } else if registry.platform_types.contains_key(target) && !is_value {
            self.opaque.insert(target);
        } else if !registry.handles.contains_key(target) {
            let text = format!("type {name} occurs by value and is unknown (GEN-43)");
            problems.push(Problem::new(Code::UnknownByValue, user, text).advised(Advice::Key("types.by-value")));
        }
    }

    fn take_struct(&mut self, structure: &'a vk_registry::model::Struct, is_value: bool, problems: &mut Problems) {
        if !is_value {
            self.opaque.insert(&structure.name);
            return;
        }
        if !self.structs.insert(&structure.name) {
            return;
        }
        for member in &structure.members {
            self.take_name(
                &member.ty.base,
                member.ty.pointers.is_empty(),
                &structure.name,
                problems,
            );
        }
    }

    /// Marks structures and function pointers that contain or point to a wrapped handle. Repeats the search until it adds no mark.
    fn find_generic(&mut self) {
        loop {
            let structs = self.structs.iter().copied().filter(|name| {
                let structure = &self.registry.structs[*name];
                structure.members.iter().any(|member| self.is_generic(&member.ty.base))
            });
            let pointers = self.function_pointers.iter().copied().filter(|name| {
                let pointer = &self.registry.function_pointers[*name];
                pointer.params.iter().any(|(_, ty)| self.is_generic(&ty.base))
                    || self.is_generic(&pointer.return_type.base)
            });
            let found: BTreeSet<&str> = structs.chain(pointers).collect();
            if found.is_subset(&self.generic) {
                return;
            }
            self.generic.extend(found);
        }
    }

    /// Returns the `sType` values of emitted structures.
    pub(super) fn member_values(&self) -> BTreeSet<&'a str> {
        let structs = self.structs.iter().map(|name| &self.registry.structs[*name]);
        let members = structs.flat_map(|found| &found.members);
        members.filter_map(|member| member.values.as_deref()).collect()
    }

    /// Returns `true` if the Rust type for the C type `name` has the type parameter `L`, the level of handles.
    pub fn is_generic(&self, name: &str) -> bool {
        let target = resolve(self.registry, name);
        self.is_wrapped(target) || self.generic.contains(target)
    }

    /// Returns `true` if the loader replaces handles of this type.
    pub fn is_wrapped(&self, name: &str) -> bool {
        self.policy.wrapped_handles.iter().any(|wrapped| wrapped == name)
    }

    /// Returns `true` if the Rust type of a command's function pointer has the type parameter `L`, the level of handles.
    pub fn is_generic_command(&self, command: &Command) -> bool {
        command.params.iter().any(|param| self.is_generic(&param.ty.base)) || self.is_generic(&command.return_type)
    }

    /// Returns a named type, without pointers and arrays.
    fn base(&self, name: &str, place: Place) -> TokenStream {
        if let Some((rust, _)) = primitive(name) {
            let rust = ident(rust);
            return quote!(#rust);
        }
        let name_ident = ident(name);
        if self.is_generic(name) {
            let level = place.tokens();
            quote!(#name_ident<#level>)
        } else {
            quote!(#name_ident)
        }
    }

    /// Returns a member's type.
    pub fn member(&self, ty: &CType, place: Place) -> TokenStream {
        let element = self.pointers(ty, self.base(&ty.base, place));
        ty.array.iter().rev().fold(element, |inner, bound| {
            let bound = self.bound(bound);
            quote!([#inner; #bound])
        })
    }

    /// Returns a parameter's type: an array is a pointer to its elements (GEN-40).
    pub fn param(&self, ty: &CType, place: Place) -> TokenStream {
        let element = self.pointers(ty, self.base(&ty.base, place));
        match (ty.array.is_empty(), ty.is_const) {
            (true, _) => element,
            (false, true) => quote!(*const #element),
            (false, false) => quote!(*mut #element),
        }
    }

    /// Returns the arrow and the return type of a function, or no tokens for `void`.
    pub fn returned(&self, ty: &CType, place: Place) -> TokenStream {
        if ty.base == "void" && ty.pointers.is_empty() {
            return TokenStream::new();
        }
        let ty = self.param(ty, place);
        quote!(-> #ty)
    }

    fn pointers(&self, ty: &CType, base: TokenStream) -> TokenStream {
        ty.pointers.iter().fold(base, |inner, is_const| {
            if *is_const {
                quote!(*const #inner)
            } else {
                quote!(*mut #inner)
            }
        })
    }

    fn bound(&self, bound: &str) -> TokenStream {
        match bound.parse::<usize>() {
            Ok(number) => {
                let number = Literal::usize_unsuffixed(number);
                quote!(#number)
            }
            Err(_) => {
                let name = ident(bound);
                quote!(#name as usize)
            }
        }
    }
}
