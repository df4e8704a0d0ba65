//! Finds the argument of a function that led to the invalid address of a fault, and the names of the called functions, on x86-64.
//!
//! The search begins at the register with the address in the innermost function. It goes on to the callers as long as the address is an
//! argument, or was read from memory to which an argument leads. The way in which a function was called makes no difference: the code before
//! the call shows the arguments, and registers that calls keep, or the stack, have their values.

mod instruction;
mod reached;
mod track;
mod value;

use super::Argument;
use super::cfi::Extent;
use super::registers::{Machine, Registers};
use super::unwind::Walk;
use crate::paths::file_name;
use instruction::{Index, Operand, RDI, RSI};
use track::{ARGUMENTS, Flow};
use value::{Point, Root, Source, Value, value_of};

/// Smallest address that a program can use. Systems leave the addresses below unused.
const SMALLEST: u64 = 0x10000;
/// Upper bound on the number of functions that are examined.
const MOST: usize = 16;
/// Upper bound on the bytes of a function.
const LARGEST: u64 = 1 << 16;
/// Addresses from here on, and below [`OF_SYSTEM`], are those of no memory.
const NOWHERE: u64 = 1 << 47;
const OF_SYSTEM: u64 = 0xFFFF_8000_0000_0000;
/// Number of arguments of a call that are examined.
const EXAMINED: usize = 10;

/// Facts about the functions on a stack.
#[derive(Default)]
pub(super) struct Found {
    /// For each of the innermost functions, the argument that led to the fault.
    pub(super) arguments: Vec<Option<Argument>>,
    /// Index of the function whose own code or variables contained the invalid address.
    pub(super) own: Option<usize>,
    /// For each of the innermost functions, the name of the function of Vulkan that it called.
    pub(super) called: Vec<Option<String>>,
    /// For each of the innermost functions, the file that its call reached.
    pub(super) reached: Vec<Option<String>>,
    /// For each of the innermost functions, the arguments of the function that it called.
    pub(super) passed: Vec<Vec<Option<u64>>>,
}

/// Way from the fault to the function that is examined next.
#[derive(Clone, Copy)]
enum Lead {
    /// The fault is in the C library, whose caller passed the address.
    Library,
    /// The process jumped to the invalid address.
    Jump,
    /// The argument at `place` is the invalid address `value`, or leads to memory that has it.
    Argument {
        place: usize,
        value: Option<u64>,
        is_behind: bool,
    },
    /// The origin of the address is known or cannot be found.
    Ended,
}

/// A function on the stack.
struct Function {
    registers: Registers,
    at: u64,
    extent: Option<Extent>,
    flow: Option<Flow>,
    /// The last step of a function without a frame that this function called, and that called the next inner function.
    last_step: Option<Flow>,
}

/// Examines the functions on the stack of a thread. `fault` has the invalid address of a fault in memory, without a number if the kernel does not
/// tell it.
pub(super) fn find(walk: &mut Walk<'_>, registers: &Registers, fault: Option<Option<u64>>) -> Found {
    if registers.machine != Machine::X64 {
        return Found::default();
    }
    let functions = functions(walk, registers.clone());
    let mut found = fault.map_or_else(Found::default, |address| of_fault(walk, &functions, address));
    (found.called, found.reached) = reached::calls(walk, &functions);
    found.passed = functions
        .iter()
        .enumerate()
        .map(|(index, function)| function.point(walk, &functions[index + 1..]))
        .map(|point| point.map_or_else(Vec::new, |point| point.all_passed()))
        .collect();
    found
}

/// Examines the functions on the stack of a thread that stopped at a fault with the invalid address `address`.
fn of_fault(walk: &Walk<'_>, functions: &[Function], address: Option<u64>) -> Found {
    let mut found = Found::default();
    let mut lead = Lead::Ended;
    for (index, function) in functions.iter().enumerate() {
        let mut point = function.point(walk, &functions[index + 1..]);
        if let Some(point) = &mut point {
            point.is_innermost = index == 0;
        }
        let is_jump = index == 0 && !walk.maps.is_code(function.at);
        let root = match (lead, point.as_ref().zip(function.flow.as_ref())) {
            _ if is_jump => None,
            (_, Some((point, flow))) if index == 0 => point.of_operand(flow, address),
            (Lead::Library, Some((point, _))) => point.of_c_library(address),
            (Lead::Jump, Some((point, flow))) => point.of_target(flow),
            (
                Lead::Argument {
                    place,
                    value,
                    is_behind,
                },
                Some((point, _)),
            ) => point.passed(function.last_step.as_ref(), place, (value, is_behind)),
            _ => None,
        };
        // The C library computes addresses in many ways, so that only its caller shows the argument.
        let is_library = (index == 0 || matches!(lead, Lead::Library)) && is_of_c_library(walk, function.at);
        (lead, found) = match root {
            _ if is_jump => (Lead::Jump, found.with(None)),
            Some((
                Lead::Argument {
                    place,
                    value,
                    is_behind,
                },
                _,
            )) => {
                let argument = Argument {
                    place,
                    value,
                    is_behind,
                };
                (
                    Lead::Argument {
                        place,
                        value,
                        is_behind,
                    },
                    found.with(Some(argument)),
                )
            }
            _ if is_library => (Lead::Library, found.with(None)),
            Some((_, Root::Own)) => {
                found.own.get_or_insert(index);
                (Lead::Ended, found)
            }
            _ => (Lead::Ended, found),
        };
    }
    found
}

impl Found {
    fn with(mut self, argument: Option<Argument>) -> Self {
        self.arguments.push(argument);
        self
    }
}

/// Returns the innermost functions on the stack.
fn functions(walk: &mut Walk<'_>, mut registers: Registers) -> Vec<Function> {
    let mut all: Vec<Function> = Vec::new();
    let mut at = registers.pc;
    while all.len() < MOST {
        let extent = walk.extent(at);
        let flow = extent
            .filter(|extent| extent.end.wrapping_sub(extent.start) < LARGEST)
            .and_then(|extent| {
                let code = walk.memory.bytes(extent.start, (extent.end - extent.start) as usize);
                track::before(&code, extent, at)
            });
        let inner = all.last().and_then(|inner: &Function| inner.extent);
        let last_step = flow
            .as_ref()
            .filter(|_| !all.is_empty())
            .and_then(|flow| last_step(walk, flow, inner));
        let caller = walk.caller(&registers, at, all.is_empty());
        all.push(Function {
            registers,
            at,
            extent,
            flow,
            last_step,
        });
        let Some(caller) = caller else { break };
        at = caller.pc.wrapping_sub(1);
        registers = caller;
    }
    all
}

/// Returns the last step of the function that a direct call leads to, if it is not the function `inner` on the stack.
fn last_step(walk: &mut Walk<'_>, flow: &Flow, inner: Option<Extent>) -> Option<Flow> {
    let mut target = flow.called_directly()?;
    for _ in 0..MOST {
        let is_other = inner.is_none_or(|inner| inner.start != target);
        let extent = walk
            .extent(target)
            .filter(|extent| is_other && extent.start == target)?;
        let size = extent.end.wrapping_sub(extent.start);
        let code = walk.memory.bytes(target, usize::try_from(size.min(LARGEST)).ok()?);
        let step = track::tail_call(&code, extent)?;
        match step.jumps_directly() {
            Some(next) => target = next,
            None => return Some(step).filter(|step| step.instruction.code == 0xFF),
        }
    }
    None
}

impl Function {
    /// Returns the contents at the call that this function made. `outer` are the functions that called it.
    fn point<'a>(&'a self, walk: &'a Walk<'a>, outer: &'a [Self]) -> Option<Point<'a>> {
        let flow = self.flow.as_ref()?;
        Some(Point {
            state: &flow.state,
            sources: &flow.sources,
            walk,
            registers: &self.registers,
            is_innermost: false,
            outer,
        })
    }
}

/// Returns `true` for code of the C library.
fn is_of_c_library(walk: &Walk<'_>, at: u64) -> bool {
    let name = file(walk, at).map_or("", |path| file_name(path));
    ["libc.so", "libc-2", "libc.musl", "ld-musl"]
        .iter()
        .any(|start| name.starts_with(start))
}

fn file<'a>(walk: &'a Walk<'_>, at: u64) -> Option<&'a str> {
    walk.maps.find(at)?.path.as_deref()
}

/// Returns `true` if an address is that of no memory.
fn is_nowhere(address: u64) -> bool {
    (NOWHERE..OF_SYSTEM).contains(&address)
}

/// Returns `true` if a program cannot use an address.
fn is_invalid(walk: &Walk<'_>, address: u64) -> bool {
    address < SMALLEST || walk.maps.find(address).is_none()
}

/// A lead with the origin of its value in the function.
type Origin = Option<(Lead, Root)>;

impl Point<'_> {
    /// Returns the lead to the value `value`, which is the number `number`.
    fn lead(&self, value: Value, number: Option<u64>) -> Origin {
        let root = self.root(value);
        let more = if let Value::Argument(_, more) = value { more } else { 0 };
        let lead = match root {
            Root::Argument(place) => Lead::Argument {
                place,
                value: number.map(|number| number.wrapping_sub(more as u64)),
                is_behind: false,
            },
            Root::Behind(place) => Lead::Argument {
                place,
                value: self.number(Value::Argument(place, 0)),
                is_behind: true,
            },
            Root::Own | Root::Unknown => Lead::Ended,
        };
        Some((lead, root))
    }

    /// Returns the origin of the address that the instruction of a fault used.
    fn of_operand(&self, flow: &Flow, address: Option<u64>) -> Origin {
        let one = &flow.instruction;
        let (base, index, offset) = match one.operand {
            _ if one.is_string() => {
                let is_it = |register: &usize| self.leads_to(value_of(self.registers, *register), address);
                let base = [RDI, RSI].into_iter().find(is_it)?;
                return self.lead(self.state.registers[base], value_of(self.registers, base));
            }
            Operand::Memory {
                base: Some(base),
                index,
                offset,
            } => (base, index, offset),
            Operand::Memory { base: None, .. } => return Some((Lead::Ended, Root::Own)),
            _ => return None,
        };
        let (value, known) = (self.state.registers[base], value_of(self.registers, base)?);
        if let Index::Register(index) = index {
            // Compilers use either register for the address.
            let (other, more) = (self.state.registers[index], value_of(self.registers, index)?);
            let roots = (self.root(value), self.root(other));
            return match roots {
                (_, Root::Unknown | Root::Own) if is_invalid(self.walk, known) => self.lead(value, Some(known)),
                (Root::Unknown | Root::Own, _) if is_invalid(self.walk, more) => self.lead(other, Some(more)),
                _ => None,
            };
        }
        let used = known.wrapping_add_signed(offset);
        let is_it = address.map_or_else(|| is_nowhere(used), |address| used == address);
        let number = match value {
            Value::Argument(_, more) => known.wrapping_sub(more as u64),
            _ => known,
        };
        (is_it && is_invalid(self.walk, number)).then(|| self.lead(value, Some(known)))?
    }

    fn leads_to(&self, value: Option<u64>, address: Option<u64>) -> bool {
        value.is_some_and(|value| match address {
            Some(address) => value <= address && address - value < SMALLEST && is_invalid(self.walk, value),
            None => is_nowhere(value),
        })
    }

    /// Returns the origin of an argument of the C library that is the address of the fault.
    fn of_c_library(&self, address: Option<u64>) -> Origin {
        let passed = [RDI, RSI].map(|register| self.state.registers[register]);
        let is_it = |value: &&Value| self.leads_to(self.number(**value), address);
        let found = *passed.iter().find(is_it)?;
        self.lead(found, self.number(found))
    }

    /// Returns the origin of the invalid address that the function called.
    fn of_target(&self, flow: &Flow) -> Origin {
        let value = match flow.instruction.operand {
            Operand::Register(register) => self.state.registers[register],
            operand => return self.behind(self.state.address(operand, flow.next)),
        };
        self.lead(value, self.target(flow.instruction.operand, flow.next))
    }

    /// Returns the origin of a value that was read from the address `address`.
    fn behind(&self, address: Value) -> Origin {
        match self.root(address) {
            Root::Argument(place) | Root::Behind(place) => {
                let value = self.number(Value::Argument(place, 0));
                let is_behind = true;
                Some((
                    Lead::Argument {
                        place,
                        value,
                        is_behind,
                    },
                    Root::Behind(place),
                ))
            }
            root => Some((Lead::Ended, root)),
        }
    }

    /// Returns the origin of the argument at `place` of the function that this function called, through the last step `step` of another one. The
    /// argument has the value `value`, or leads to memory with the invalid address.
    fn passed(&self, step: Option<&Flow>, mut place: usize, (value, mut is_behind): (Option<u64>, bool)) -> Origin {
        if let Some(step) = step {
            let inner = Point {
                state: &step.state,
                sources: &step.sources,
                ..*self
            };
            match inner.root(step.state.registers[*ARGUMENTS.get(place)?]) {
                Root::Argument(outer) => place = outer,
                Root::Behind(outer) => (place, is_behind) = (outer, true),
                root => return Some((Lead::Ended, root)),
            }
        }
        let passed = self.state.passes(place);
        let number = self.number(passed);
        match (is_behind, passed) {
            (false, _) if number.is_some() && number != value => None,
            (false, _) => self.lead(passed, value),
            // Other functions may have changed a variable of this function.
            (true, Value::Stack(_)) => None,
            (true, _) => self.behind(passed),
        }
    }

    /// Returns the arguments of the function that this function called.
    fn all_passed(&self) -> Vec<Option<u64>> {
        (0..EXAMINED)
            .map(|place| self.number(self.state.passes(place)))
            .collect()
    }

    /// Returns the number that a value is in a function that this function called, and whose last step was `step`.
    fn number_in(&self, step: &Flow, value: Value, depth: usize) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        match value {
            Value::Argument(place, more) => Some(self.number(self.state.passes(place))?.wrapping_add_signed(more)),
            Value::Made(at, more) => {
                let Source::Load { address, size } = *step.sources.get(&at)? else {
                    return None;
                };
                let address = self.number_in(step, address, depth)?;
                Some(self.walk.memory.word(address, size)?.wrapping_add_signed(more))
            }
            Value::Number(number) => Some(number as u64),
            Value::Unknown | Value::Stack(_) => None,
        }
    }

    /// Returns the address of the function that the function at `flow` called, through the last step `step` of another one.
    fn called(&self, flow: &Flow, step: Option<&Flow>) -> Option<u64> {
        match (step, flow.called_directly()) {
            (Some(step), _) => match step.instruction.operand {
                Operand::Register(register) => self.number_in(step, step.state.registers[register], MOST),
                operand => {
                    let address = self.number_in(step, step.state.address(operand, step.next), MOST)?;
                    self.walk.memory.word(address, 8)
                }
            },
            (None, Some(target)) => Some(target),
            (None, None) => self.target(flow.instruction.operand, flow.next),
        }
    }
}
