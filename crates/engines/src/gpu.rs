//! The engine `gpu`: this project's kernels on a graphics processor, or on whatever else a driver offers.
//!
//! | variant | what it is |
//! |---|---|
//! | `tuned`, the default | a work-item for each number, in groups that suit the device |
//! | `article` | article (d)'s kernel and launch: 512 blocks of 128 threads whatever there is to do; no CRT, no blinding, no check |
//! | `plain` | without the CRT |
//! | `hybrid` | the device and all CPUs that this process may use, each batch shared by what both were seen to do |
//! | `resident` | inputs lie on the device when the clock starts, and results stay there when it stops; raw private blocks alone |
//! | `opencl0`, `cuda0`, … | tuned, on one of several devices |
//!
//! Without a device it supports nothing, and says why. The device is the engine's own affair: a call hands it a whole
//! batch, and is charged for the way there and back.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use rsalab_gpu::{Choice, Gpu, Launch, SplitBackend, Survey};
use rsalab_measure::{Topology, pin::allowed_cpus};
use rsalab_rsa::{Backend, CpuBackend, generate::miller_rabin_rounds};

use crate::{
    backed::{Bulk, Keyed, ResidentBlocks, private_key, public_key, refused},
    engine::{Engine, EngineError, EngineInfo, Prepared, RunStats, Runner},
    ensure,
    job::{Job, StudyKey},
    kit,
    ledger::{Ledger, Reason, ThreadOwner},
    op::Op,
};

/// How the origin of an engine without a device begins; the reason follows.
pub const NO_DEVICE: &str = "no device, because ";

/// The one command that installs a device to a machine without a graphics processor: OpenCL on its CPU.
pub const INSTALL_DEVICE: &str = "apt-get install pocl-opencl-icd ocl-icd-libopencl1";

/// Bits of the smallest modulus that the kernels take.
const LEAST_BITS: usize = 512;
/// Bits of the largest number that the kernels take.
const LARGEST_NUMBER: usize = 32 * rsalab_gpu::kernel::MAX_LIMBS;

/// RSA on a device.
pub struct OnDevice {
    survey: OnceLock<Survey>,
    /// Devices that were opened, or could not be.
    opened: Mutex<BTreeMap<String, Opened>>,
}

type Opened = Result<Arc<dyn Gpu>, Reason>;

/// A variant of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Tuned,
    Article,
    Plain,
    Hybrid,
    Resident,
    On(Choice),
}

const VARIANTS: [(&str, Variant); 5] = [
    ("tuned", Variant::Tuned),
    ("article", Variant::Article),
    ("plain", Variant::Plain),
    ("hybrid", Variant::Hybrid),
    ("resident", Variant::Resident),
];

impl Default for OnDevice {
    fn default() -> Self {
        OnDevice::new()
    }
}

impl OnDevice {
    /// Drivers are asked when the engine is.
    pub fn new() -> Self {
        OnDevice {
            survey: OnceLock::new(),
            opened: Mutex::default(),
        }
    }

    /// With a device that is open already, in the place of the first that there is: for whoever wants to see what
    /// becomes of one that fails.
    pub fn over(device: Arc<dyn Gpu>) -> Self {
        let engine = OnDevice::new();
        engine.opened().insert(Choice::First.to_string(), Ok(device));
        engine
    }

    fn opened(&self) -> MutexGuard<'_, BTreeMap<String, Opened>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn survey(&self) -> &Survey {
        self.survey.get_or_init(Survey::take)
    }

    /// A device, opened once.
    fn device(&self, choice: Choice) -> Opened {
        let open = || {
            let device = self.survey().open(choice, Launch::Tuned);
            device.map(Arc::from).map_err(|failure| Reason(failure.to_string()))
        };
        self.opened().entry(choice.to_string()).or_insert_with(open).clone()
    }

    fn backend(&self, variant: Variant) -> Result<Box<dyn Backend>, Reason> {
        Ok(match variant {
            Variant::Hybrid => Box::new(self.split()?),
            variant => self.gpu(variant)?,
        })
    }

    /// The device and all CPUs that this process may use.
    fn split(&self) -> Result<SplitBackend, Reason> {
        let device = self.device(Choice::First)?;
        // Asked before the calling thread is pinned: its threads would be where it is.
        let topology = Topology::detect();
        let threads = topology.allowed_cpus().max(1);
        let split = SplitBackend::new(CpuBackend::auto(), device, threads);
        // A system that does not say where a thread may run does not pin it either.
        Ok(match allowed_cpus() {
            Ok(_) => split.pinned_to(topology.placement(threads).cpus),
            Err(_) => split,
        })
    }

    /// The device of a variant that works on nothing else.
    fn gpu(&self, variant: Variant) -> Result<Box<dyn Gpu>, Reason> {
        let choice = match variant {
            Variant::On(choice) => choice,
            _ => Choice::First,
        };
        let launch = match variant {
            Variant::Article => Launch::ARTICLE,
            _ => Launch::Tuned,
        };
        Ok(self.device(choice)?.with_launch(launch))
    }
}

/// The variant that a job names.
fn variant(job: &Job) -> Result<Variant, Reason> {
    let Some(wanted) = &job.variant else {
        return Ok(Variant::Tuned);
    };
    let named = VARIANTS.iter().find(|(name, _)| name == wanted);
    named
        .map(|(_, variant)| *variant)
        .or_else(|| Choice::parse(wanted).map(Variant::On))
        .ok_or_else(|| {
            Reason(format!(
                "there is no variant '{wanted}'; there are {}, and devices by name such as opencl0",
                kit::names(&VARIANTS).join(", ")
            ))
        })
}

impl Engine for OnDevice {
    fn info(&self) -> EngineInfo {
        let survey = self.survey();
        let devices: Vec<_> = survey.devices().collect();
        let origin = match devices.first() {
            Some((_, device)) => device.to_string(),
            None => {
                let reasons: Vec<&str> = survey.absent.iter().map(|(_, why)| why.as_str()).collect();
                format!("{NO_DEVICE}{}", reasons.join(", and "))
            }
        };
        EngineInfo {
            name: "gpu".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            origin,
            cpu_path: None,
            variants: kit::names(&VARIANTS)
                .into_iter()
                .chain(devices.iter().map(|(choice, _)| choice.to_string()))
                .collect(),
            optimised: crate::OPTIMISED,
        }
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        let variant = variant(job)?;
        let Job { op, bits, .. } = job;
        ensure!(
            job.threads == 1,
            "a device is one, and takes all there is to do from one thread; the job asks for {}",
            job.threads
        );
        ensure!(
            !job.bare,
            "the kernels of a device are blinded and checked, and have no bare variant"
        );
        ensure!(
            !matches!(variant, Variant::Plain | Variant::Article) || matches!(op, Op::Private | Op::Public),
            "'{}' is raising a block to the whole exponent, which '{op}' is not",
            job.variant.as_deref().unwrap_or_default()
        );
        ensure!(
            variant != Variant::Resident || *op == Op::Private,
            "only private blocks are kept on the device, which '{op}' is not"
        );
        let is_private = matches!(op, Op::Private | Op::Sign);
        let is_search = matches!(op, Op::Keygen | Op::PrimePair);
        let longest = if is_search { bits / 2 } else { *bits };
        ensure!(
            *bits >= LEAST_BITS && longest <= LARGEST_NUMBER,
            "the modulus has {bits} bits; kernels of a device take keys of {LEAST_BITS} bits or more, and numbers of up to {LARGEST_NUMBER}"
        );
        ensure!(
            variant != Variant::Hybrid || !is_search,
            "candidates are tested by the device or by the CPU, whichever is faster, and not by both"
        );
        if is_search {
            kit::even_bits(job)?;
        }
        ensure!(
            is_search || is_private || matches!(op, Op::Public | Op::Verify),
            "'{op}' is not done on a device"
        );
        let backend = self.backend(variant)?;
        let setup = match (is_search, variant) {
            (true, _) => "kernels compiled",
            (_, Variant::Resident) => {
                "kernels compiled, the key uploaded to the device and prepared there, and the blocks; results are fetched afterwards"
            }
            _ => "kernels compiled, the key uploaded to the device and prepared there",
        };
        let ledger = Ledger {
            exponent: (!is_private).then_some(job.exponent),
            lanes: backend.lanes(),
            threads: ThreadOwner::Engine,
            ..Ledger::native(setup).padded_for(job.op)
        };
        Ok(match (is_private, is_search) {
            (true, _) => Ledger {
                crt: Some(!matches!(variant, Variant::Plain | Variant::Article)),
                blinding: Some(variant != Variant::Article),
                result_check: Some(variant != Variant::Article),
                constant_time: Some(true),
                ..ledger
            },
            (_, true) => Ledger {
                rounds: Some(format!(
                    "{} Miller–Rabin, random bases",
                    miller_rabin_rounds(job.bits / 2)
                )),
                sieve: Some("random starts, sieved on the CPU in constant time, and a test to base 2".to_owned()),
                constant_time: Some(true),
                ..ledger
            },
            _ => ledger,
        })
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        self.supports(job)?;
        let variant = variant(job)?;
        Ok(match (variant, job.op) {
            (Variant::Hybrid, _) => {
                let split = self.split()?;
                let prepared = keyed(&split, job, keys)?;
                Box::new(Watched { prepared, split })
            }
            (Variant::Resident, _) => {
                let key = self.gpu(variant)?.prepare_resident(&private_key(job, keys)?);
                Box::new(ResidentBlocks::new(key.map_err(refused)?, job))
            }
            (Variant::Plain | Variant::Article, Op::Private) => {
                let (gpu, key) = (self.gpu(variant)?, private_key(job, keys)?);
                let key = match variant {
                    Variant::Article => gpu.prepare_private_bare(&key),
                    _ => gpu.prepare_private_without_crt(&key),
                };
                Box::new(Keyed::new(key.map_err(refused)?, job)?)
            }
            (_, Op::Keygen | Op::PrimePair) => Box::new(Bulk::new(self.backend(variant)?, job)?),
            _ => Box::new(keyed(self.backend(variant)?.as_ref(), job, keys)?),
        })
    }
}

/// A job with a key on a backend.
fn keyed(backend: &dyn Backend, job: &Job, keys: &[StudyKey]) -> Result<Keyed, EngineError> {
    let key = match job.op {
        Op::Private | Op::Sign => backend.prepare_private(&private_key(job, keys)?),
        _ => backend.prepare_public(&public_key(job, keys)?),
    };
    Keyed::new(key.map_err(refused)?, job)
}

/// Work shared with the CPU, which goes on alone where the device is lost: what is measured then is no figure of both,
/// and fails.
struct Watched {
    prepared: Keyed,
    split: SplitBackend,
}

impl Prepared for Watched {
    fn kernel(&self) -> String {
        self.prepared.kernel()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(WatchedRunner {
            runner: self.prepared.runner()?,
            split: &self.split,
        }))
    }
}

struct WatchedRunner<'a> {
    runner: Box<dyn Runner + 'a>,
    split: &'a SplitBackend,
}

impl Runner for WatchedRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let stats = self.runner.run(inputs, outputs)?;
        match self.split.lost() {
            None => Ok(stats),
            Some(message) => Err(EngineError::library("the device", message)),
        }
    }
}

/// Returns whether a device of a driver is a CPU, as the record of its kernel says: PoCL's, which is no graphics
/// processor.
pub fn is_on_cpu(kernel: &str) -> bool {
    kernel.contains(rsalab_gpu::backend::ON_A_CPU)
}

#[cfg(test)]
mod tests {
    use rsalab_gpu::Driver;

    use super::*;
    use crate::job::Mode;

    fn job(op: Op, variant: Option<&str>) -> Job {
        Job {
            batch: 8,
            mode: Mode::Throughput,
            variant: variant.map(str::to_owned),
            ..Job::new(op, 1024)
        }
    }

    /// An engine whose drivers have found nothing.
    fn without_device() -> OnDevice {
        let engine = OnDevice::new();
        let nothing = Survey::of_nothing(vec![(Driver::Cuda, "A".to_owned()), (Driver::OpenCl, "B".to_owned())]);
        assert!(engine.survey.set(nothing).is_ok());
        engine
    }

    #[test]
    fn without_a_device_every_job_has_the_reason() {
        let engine = without_device();
        assert_eq!(engine.info().origin, "no device, because A, and B");
        for (op, variant) in [
            (Op::Private, None),
            (Op::Public, Some("article")),
            (Op::Private, Some("plain")),
            (Op::Keygen, None),
            (Op::Private, Some("hybrid")),
            (Op::Verify, Some("tuned")),
        ] {
            let refused = engine.supports(&job(op, variant)).unwrap_err();
            assert_eq!(refused.0, "no device, because A, and B", "{op}");
        }
        let refused = engine.supports(&job(Op::Private, Some("cuda1"))).unwrap_err();
        assert_eq!(refused.0, "no device, because A");
    }

    #[test]
    fn what_is_not_done_on_a_device_is_refused_before_one_is_looked_for() {
        let engine = without_device();
        let refused = |job: Job| engine.supports(&job).unwrap_err().0;
        assert!(refused(job(Op::Totient, None)).contains("'totient'"));
        assert!(refused(job(Op::Sign, Some("plain"))).contains("'sign'"));
        assert!(refused(job(Op::Private, Some("fast"))).contains("tuned, article, plain, hybrid, resident"));
        let bare = Job {
            bare: true,
            ..job(Op::Private, None)
        };
        assert!(refused(bare).contains("bare"));
        let threads = Job {
            threads: 2,
            ..job(Op::Private, None)
        };
        assert!(refused(threads).contains("from one thread"));
        let odd = Job {
            bits: 1023,
            ..job(Op::Keygen, None)
        };
        assert!(refused(odd).contains("1023"));
        for bits in [256, 8200] {
            let job = Job {
                bits,
                ..job(Op::Private, None)
            };
            assert!(refused(job).contains("8192"));
        }
    }
}
