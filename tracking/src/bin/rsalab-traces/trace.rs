//! A child process, instruction by instruction.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};

use iced_x86::{Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, Register, UsedMemory};
use nix::libc::{SYS_getrandom, user_regs_struct};
use nix::sys::personality::{self, Persona};
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

/// Why there is no trace.
#[derive(Debug)]
pub(crate) enum Error {
    Start(io::Error),
    /// A system may forbid it.
    Stepping(nix::Error),
    /// The child came to an end, or to something else than the beginning and the end of a step.
    Child(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => write!(f, "the child does not start: {error}"),
            Self::Stepping(error) => write!(f, "this system does not let one process step through another: {error}"),
            Self::Child(status) => write!(f, "the child stopped: {status}"),
        }
    }
}

impl From<nix::Error> for Error {
    fn from(error: nix::Error) -> Self {
        Self::Stepping(error)
    }
}

/// What the traces of a step show.
pub(crate) struct Outcome {
    /// Instructions of one trace.
    pub(crate) instructions: usize,
    /// Addresses of one trace.
    pub(crate) addresses: usize,
    /// Where the first difference is.
    pub(crate) different: Option<String>,
    /// Instructions that were met whose time may depend on operands that were not compared.
    pub(crate) timed: Vec<String>,
}

/// What of an instruction's operands its time may depend on, on a CPU that is in use.
#[derive(Clone, Copy, PartialEq)]
enum Timed {
    No,
    /// The count of a shift: Zen 4 takes longer for zero.
    Count,
    /// Dividend and divisor.
    Division,
    /// It is not followed: divisions and roots of floating point, gathers (by the lines that they touch).
    Unknown,
}

impl Timed {
    fn of(instruction: &Instruction) -> Self {
        let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
        let starts_with = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        let counts = (0..instruction.op_count()).any(|i| instruction.op_register(i) == Register::CL);
        if matches!(instruction.mnemonic(), Mnemonic::Div | Mnemonic::Idiv) {
            Self::Division
        } else if counts && starts_with(&["sh", "sa", "ro", "rc"]) {
            Self::Count
        } else if starts_with(&[
            "div",
            "vdiv",
            "fdiv",
            "sqrt",
            "vsqrt",
            "fsqrt",
            "vgather",
            "vpgather",
            "vscatter",
            "vpscatter",
        ]) {
            Self::Unknown
        } else {
            Self::No
        }
    }
}

/// Steps through a step in one child after the other, each with a key of its own, and compares them with the first.
pub(crate) fn compare(step: &str, kernel: &str, traces: usize) -> Result<Outcome, Error> {
    let randomized = personality::get()?;
    personality::set(randomized | Persona::ADDR_NO_RANDOMIZE)?;
    let mut outcome = Outcome {
        instructions: 0,
        addresses: 0,
        different: None,
        timed: Vec::new(),
    };
    let mut code = Code {
        factory: InstructionInfoFactory::new(),
        met: HashMap::new(),
    };
    // Each instruction's place, and what it addresses.
    let mut first: Vec<(u64, u64)> = Vec::new();
    for trace in 0..traces {
        let child = Stepped::start(step, kernel, trace)?;
        let mut at = 0;
        let mut drawn = None;
        while let Some(registers) = child.step()? {
            if let Some((address, len)) = drawn.take() {
                child.give_random(trace, address, len)?;
            }
            let decoded = code.decoded(&child, registers.rip)?;
            let mut hasher = DefaultHasher::new();
            for memory in &decoded.memory {
                address(memory, &registers).hash(&mut hasher);
            }
            decoded.operands(&registers).hash(&mut hasher);
            if decoded.instruction.mnemonic() == Mnemonic::Syscall && registers.rax == SYS_getrandom.cast_unsigned() {
                drawn = Some((registers.rdi, registers.rsi));
            }
            let now = (registers.rip, hasher.finish());
            if trace == 0 {
                outcome.addresses += decoded.memory.len();
                outcome.instructions += 1;
                first.push(now);
            } else if first.get(at) != Some(&now) {
                let same_place = first.get(at).is_some_and(|then| then.0 == now.0);
                let (place, kind) = if same_place {
                    (now.0, "takes another address, count or divisor")
                } else {
                    (first[..at].last().map_or(now.0, |last| last.0), "goes another way")
                };
                let place = code.name(&child, place);
                outcome.different = Some(format!("key {trace} {kind} than key 0 at instruction {at}, {place}"));
                break;
            }
            at += 1;
        }
        if at != first.len() && outcome.different.is_none() {
            outcome.different = Some(format!("{at} instructions for key {trace}, {} for key 0", first.len()));
        }
        if trace == 0 {
            outcome.timed = code.timed(&child);
        }
        if outcome.different.is_some() {
            break;
        }
    }
    Ok(outcome)
}

/// Where an operand lies.
fn address(memory: &UsedMemory, registers: &user_regs_struct) -> Option<u64> {
    memory.try_virtual_address(0, |register, _, _| value(register, registers))
}

fn value(register: Register, registers: &user_regs_struct) -> Option<u64> {
    let whole = match register.full_register() {
        Register::RAX => registers.rax,
        Register::RBX => registers.rbx,
        Register::RCX => registers.rcx,
        Register::RDX => registers.rdx,
        Register::RSI => registers.rsi,
        Register::RDI => registers.rdi,
        Register::RBP => registers.rbp,
        Register::RSP => registers.rsp,
        Register::R8 => registers.r8,
        Register::R9 => registers.r9,
        Register::R10 => registers.r10,
        Register::R11 => registers.r11,
        Register::R12 => registers.r12,
        Register::R13 => registers.r13,
        Register::R14 => registers.r14,
        Register::R15 => registers.r15,
        Register::RIP => registers.rip,
        Register::FS => registers.fs_base,
        Register::GS => registers.gs_base,
        Register::CS | Register::DS | Register::ES | Register::SS => 0,
        _ => return None,
    };
    Some(if register.is_gpr32() {
        whole & 0xffff_ffff
    } else {
        whole
    })
}

/// A child that stands at the beginning of a step, or within it.
struct Stepped {
    child: Child,
    pid: Pid,
    memory: File,
}

impl Drop for Stepped {
    fn drop(&mut self) {
        // It waits for nothing but this process.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Stepped {
    fn start(step: &str, kernel: &str, key: usize) -> Result<Self, Error> {
        let program = std::env::current_exe().map_err(Error::Start)?;
        let mut child = Command::new(program)
            .args(["child", step, kernel, &key.to_string()])
            .stdin(Stdio::piped())
            .spawn()
            .map_err(Error::Start)?;
        let pid = Pid::from_raw(child.id().cast_signed());
        let mut stdin = child.stdin.take().expect("it was asked for");
        let memory = File::options().read(true).write(true).open(format!("/proc/{pid}/mem"));
        let memory = match memory {
            Ok(memory) => memory,
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(Error::Start(error));
            }
        };
        let held = Self { child, pid, memory };
        ptrace::seize(pid, ptrace::Options::PTRACE_O_EXITKILL)?;
        // It waits for a byte.
        stdin.write_all(b"\n").map_err(Error::Start)?;
        match waitpid(pid, None)? {
            WaitStatus::Stopped(_, Signal::SIGUSR1) => Ok(held),
            other => Err(Error::Child(format!("{other:?}"))),
        }
    }

    /// Puts other bytes in the place of those that the system gave: all below 128, so that a number made of them is
    /// below each modulus, and none is rejected.
    fn give_random(&self, seed: usize, address: u64, len: u64) -> Result<(), Error> {
        let bytes: Vec<u8> = (0..len)
            .map(|i| {
                let mut hasher = DefaultHasher::new();
                (seed, i).hash(&mut hasher);
                hasher.finish() as u8 & 0x7f
            })
            .collect();
        self.memory.write_all_at(&bytes, address).map_err(Error::Start)
    }

    /// One instruction further; returns the registers, or nothing at the end of the step. The signals do not reach it.
    fn step(&self) -> Result<Option<user_regs_struct>, Error> {
        ptrace::step(self.pid, None)?;
        match waitpid(self.pid, None)? {
            WaitStatus::Stopped(_, Signal::SIGTRAP) => Ok(Some(ptrace::getregs(self.pid)?)),
            WaitStatus::Stopped(_, Signal::SIGUSR2) => Ok(None),
            other => Err(Error::Child(format!("{other:?}"))),
        }
    }
}

/// An instruction that was met.
struct Decoded {
    instruction: Instruction,
    memory: Vec<UsedMemory>,
    timed: Timed,
}

impl Decoded {
    /// What its time may depend on.
    fn operands(&self, registers: &user_regs_struct) -> [u64; 3] {
        match self.timed {
            Timed::No | Timed::Unknown => [0; 3],
            Timed::Count => [registers.rcx & 0xff, 0, 0],
            Timed::Division => {
                let divisor = value(self.instruction.op0_register(), registers);
                [registers.rax, registers.rdx, divisor.unwrap_or(0)]
            }
        }
    }
}

/// The instructions that were met, by their addresses: the same ones in each child.
struct Code {
    factory: InstructionInfoFactory,
    met: HashMap<u64, Decoded>,
}

impl Code {
    fn decoded(&mut self, child: &Stepped, rip: u64) -> Result<&Decoded, Error> {
        if !self.met.contains_key(&rip) {
            // No instruction is longer; a page may end before that.
            let mut bytes = [0; 15];
            let len = child.memory.read_at(&mut bytes, rip).map_err(Error::Start)?;
            let instruction = Decoder::with_ip(64, &bytes[..len], rip, DecoderOptions::NONE).decode();
            if instruction.is_invalid() {
                let message = format!("it met an instruction that is not known: {bytes:02x?}");
                return Err(Error::Child(message));
            }
            let memory = match instruction.mnemonic() {
                // It names an address, and does not go there.
                Mnemonic::Lea | Mnemonic::Nop => Vec::new(),
                _ => self.factory.info(&instruction).used_memory().to_vec(),
            };
            let timed = match Timed::of(&instruction) {
                // What is in memory is not looked at.
                Timed::Division if !memory.is_empty() => Timed::Unknown,
                timed => timed,
            };
            self.met.insert(
                rip,
                Decoded {
                    instruction,
                    memory,
                    timed,
                },
            );
        }
        Ok(&self.met[&rip])
    }

    /// What to call a place: the file it is of, the offset in that, and the instruction.
    fn name(&self, child: &Stepped, rip: u64) -> String {
        let place = mapped(child.pid, rip).unwrap_or_else(|| format!("{rip:#x}"));
        match self.met.get(&rip) {
            Some(decoded) => format!("{place} ({:?})", decoded.instruction.code()),
            None => place,
        }
    }

    fn timed(&self, child: &Stepped) -> Vec<String> {
        let timed = self.met.iter().filter(|(_, decoded)| decoded.timed == Timed::Unknown);
        let mut timed: Vec<_> = timed.map(|(rip, _)| self.name(child, *rip)).collect();
        timed.sort();
        timed
    }
}

/// A file that is mapped at an address, and the offset from where it begins there, which `addr2line` takes.
fn mapped(pid: Pid, rip: u64) -> Option<String> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    let regions: Vec<_> = maps
        .lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace();
            let (low, high) = fields.next()?.split_once('-')?;
            let number = |hex| u64::from_str_radix(hex, 16).ok();
            Some((number(low)?..number(high)?, fields.nth(4)?))
        })
        .collect();
    let (_, file) = regions.iter().find(|(region, _)| region.contains(&rip))?;
    let (begin, _) = regions.iter().find(|(_, other)| other == file)?;
    let name = file.rsplit('/').next().unwrap_or(file);
    Some(format!("{name}+{:#x}", rip - begin.start))
}
