//! A device and this CPU share each batch, as article (d)'s hybrid does: by what both were seen to do.
//!
//! ```text
//! batch ── the first part to the CPU's threads, the rest to the device ── results in the order of the batch
//! ```
//!
//! A device takes a while for any batch, and then so much for each item; a CPU takes so much for each item. Both are measured, first by a
//! trial and then by every batch, and a batch is cut where both would be done at once. Below the size at which that point is reached the
//! CPU works alone. A device that fails is not asked again: what it had is done by the CPU, and [`SplitBackend::lost`] says why.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rsalab_measure::pin::pin_current_thread;
use rsalab_rsa::{
    Backend, BlockRunner, CandidateTester, CpuBackend, Error, Prepared, PreparedRing, PrivateKey,
    PublicKey, Status,
};
use zeroize::Zeroizing;

use crate::backend::Gpu;

/// A device and the threads of this CPU. Copies share the device, and what is known of it.
#[derive(Clone)]
pub struct SplitBackend {
    cpu: CpuBackend,
    gpu: Arc<dyn Gpu>,
    threads: usize,
    /// Where the threads go; wherever the system likes if none are named.
    cpus: Vec<usize>,
    kernel: String,
    lost: Lost,
}

/// Why the device is not asked any more, if it is not.
type Lost = Arc<Mutex<Option<String>>>;

impl SplitBackend {
    /// A device, and so many threads of this CPU, at least one.
    pub fn new(cpu: CpuBackend, gpu: Arc<dyn Gpu>, threads: usize) -> Self {
        SplitBackend {
            kernel: format!("{} and {}", cpu.kernel(), gpu.kernel()),
            cpu,
            gpu,
            threads: threads.max(1),
            cpus: Vec::new(),
            lost: Lost::default(),
        }
    }

    /// With each thread on a CPU of its own, in turn: for a caller that is pinned itself, whose threads would all share its CPU.
    pub fn pinned_to(self, cpus: Vec<usize>) -> Self {
        SplitBackend { cpus, ..self }
    }

    /// Why the device was given up, if it was.
    pub fn lost(&self) -> Option<String> {
        locked(&self.lost).clone()
    }

    /// Both sides of a key; without the device if it refuses.
    fn ready(
        &self,
        cpu: Box<dyn Prepared>,
        gpu: Result<Box<dyn Prepared>, Error>,
    ) -> Box<dyn Prepared> {
        Box::new(Ready {
            cpu: Arc::from(cpu),
            gpu: self.unless_lost(gpu),
            threads: self.threads,
            cpus: self.cpus.clone(),
            kernel: self.kernel.clone(),
            lost: Arc::clone(&self.lost),
            balance: Mutex::default(),
        })
    }

    fn unless_lost<T>(&self, side: Result<T, Error>) -> Option<T> {
        side.map_err(|error| give_up(&self.lost, &error)).ok()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn give_up(lost: &Lost, error: &Error) {
    locked(lost).get_or_insert_with(|| error.to_string());
}

impl Backend for SplitBackend {
    fn name(&self) -> &str {
        "cpu+gpu"
    }

    fn kernel(&self) -> &str {
        &self.kernel
    }

    fn lanes(&self) -> usize {
        self.gpu.lanes() + self.threads * self.cpu.lanes()
    }

    fn searches(&self) -> usize {
        self.gpu.searches()
    }

    fn prepare_private(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>, Error> {
        Ok(self.ready(
            self.cpu.prepare_private(key)?,
            self.gpu.prepare_private(key),
        ))
    }

    /// On the CPU alone: many keys with few requests each are not what a device is for.
    fn prepare_private_ring(&self, keys: &[PrivateKey]) -> Result<Box<dyn PreparedRing>, Error> {
        self.cpu.prepare_private_ring(keys)
    }

    fn prepare_public(&self, key: &PublicKey) -> Result<Box<dyn Prepared>, Error> {
        Ok(self.ready(self.cpu.prepare_public(key)?, self.gpu.prepare_public(key)))
    }

    fn tester(&self, bits: usize) -> Result<Box<dyn CandidateTester + '_>, Error> {
        Ok(Box::new(Tester {
            cpu: self.cpu.tester(bits)?,
            gpu: self.unless_lost(self.gpu.tester(bits)),
            lost: &self.lost,
            pre_tests: Preference::default(),
            rounds: Preference::default(),
        }))
    }
}

/// How long both sides take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Balance {
    /// Seconds an item of all the CPU's threads together.
    cpu: Option<f64>,
    /// Seconds of the device for a single item, once that was tried.
    one: Option<f64>,
    gpu: Option<Device>,
}

/// Seconds for any batch, and for each item of it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Device {
    start: f64,
    item: f64,
}

/// How much a new measurement counts beside all earlier ones.
const NEWEST: f64 = 0.25;

impl Balance {
    /// How many items of a batch the device gets: as many as let both end at once, none where the CPU is done before the device would have
    /// begun to be of use.
    fn share(&self, items: usize) -> usize {
        let (Some(cpu), Some(Device { start, item })) = (self.cpu, self.gpu) else {
            return 0;
        };
        let together = (items as f64 * cpu - start) / (cpu + item);
        // Also NaN, which no comparison holds for.
        if together >= 1.0 {
            (together as usize).min(items)
        } else {
            0
        }
    }

    fn saw_cpu(&mut self, items: usize, took: Duration) {
        if items > 0 {
            let now = took.as_secs_f64() / items as f64;
            self.cpu = Some(mixed(self.cpu, now));
        }
    }

    /// A batch of the device: what it took beyond its start is the items'.
    fn saw_gpu(&mut self, items: usize, took: Duration) {
        if let Some(device) = &mut self.gpu {
            let now = ((took.as_secs_f64() - device.start) / items.max(1) as f64).max(0.0);
            device.item = mixed(Some(device.item), now);
        }
    }

    /// Whether the device is to be tried on a batch of so many, of which it has not done any: it is, unless it is known to take longer for a
    /// single item than the CPU takes for all.
    fn wants_trial(&self, items: usize) -> bool {
        let of_use = |cpu: f64| self.one.is_none_or(|one| one < items as f64 * cpu);
        items > 1 && self.gpu.is_none() && self.cpu.is_some_and(of_use)
    }

    /// A trial of the device: one item.
    fn tried_one(&mut self, took: Duration) {
        self.one = Some(took.as_secs_f64());
    }

    /// And several.
    fn tried_several(&mut self, items: usize, took: Duration) {
        let (one, took) = (self.one.unwrap_or(0.0), took.as_secs_f64());
        let item = match items {
            0 | 1 => 0.0,
            items => ((took - one) / (items - 1) as f64).max(0.0),
        };
        self.gpu = Some(Device {
            start: (one - item).max(0.0),
            item,
        });
    }
}

fn mixed(before: Option<f64>, now: f64) -> f64 {
    before.map_or(now, |before| before + NEWEST * (now - before))
}

/// A key on both sides.
struct Ready {
    cpu: Arc<dyn Prepared>,
    gpu: Option<Box<dyn Prepared>>,
    threads: usize,
    cpus: Vec<usize>,
    kernel: String,
    lost: Lost,
    balance: Mutex<Balance>,
}

impl Prepared for Ready {
    fn modulus_len(&self) -> usize {
        self.cpu.modulus_len()
    }

    fn kernel(&self) -> &str {
        &self.kernel
    }

    fn lanes(&self) -> usize {
        let gpu = self.gpu.as_ref().map_or(0, |gpu| gpu.lanes());
        gpu + self.threads * self.cpu.lanes()
    }

    fn runner(&self) -> Result<Box<dyn BlockRunner + '_>, Error> {
        let gpu = match (&self.gpu, &*locked(&self.lost)) {
            (Some(gpu), None) => Some(gpu.runner()),
            _ => None,
        };
        // The lock is open again: whoever gives a device up takes it.
        let gpu = gpu.and_then(|gpu| gpu.map_err(|error| give_up(&self.lost, &error)).ok());
        Ok(Box::new(Runner {
            ready: self,
            gpu,
            crew: Crew::start(&self.cpu, self.threads, &self.cpus)?,
        }))
    }
}

/// A batch's hands: the caller drives the device while the crew works.
struct Runner<'a> {
    ready: &'a Ready,
    gpu: Option<Box<dyn BlockRunner + 'a>>,
    crew: Crew,
}

impl BlockRunner for Runner<'_> {
    fn run(
        &mut self,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error> {
        let length = self.ready.modulus_len();
        let items = status.len();
        for (what, got) in [
            ("the input buffer", inputs.len()),
            ("the output buffer", outputs.len()),
        ] {
            if got != items * length {
                return Err(Error::Length {
                    what,
                    expected: items * length,
                    got,
                });
            }
        }
        let done = self.run_split(inputs, outputs, status, length);
        if done.is_err() {
            outputs.fill(0);
        }
        done
    }
}

impl Runner<'_> {
    fn run_split(
        &mut self,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
        length: usize,
    ) -> Result<(), Error> {
        self.try_gpu(inputs, length);
        let items = status.len();
        let balance = *locked(&self.ready.balance);
        let for_gpu = match &self.gpu {
            Some(_) => balance.share(items),
            None => 0,
        };
        let for_cpu = items - for_gpu;
        let (cpu_inputs, gpu_inputs) = inputs.split_at(for_cpu * length);
        let (cpu_outputs, gpu_outputs) = outputs.split_at_mut(for_cpu * length);
        let (cpu_status, gpu_status) = status.split_at_mut(for_cpu);
        let began = Instant::now();
        let begun = self.crew.begin(cpu_inputs, length);
        let by_gpu = match &mut self.gpu {
            Some(gpu) if for_gpu > 0 => Some(gpu.run(gpu_inputs, gpu_outputs, gpu_status)),
            _ => None,
        };
        let gpu_took = began.elapsed();
        let cpu_took = self.crew.collect(begun, cpu_outputs, cpu_status)?;
        {
            let mut balance = locked(&self.ready.balance);
            balance.saw_cpu(for_cpu, cpu_took);
            if let Some(Ok(())) = by_gpu {
                balance.saw_gpu(for_gpu, gpu_took);
            }
        }
        if let Some(Err(error)) = by_gpu {
            self.give_up(&error);
            let begun = self.crew.begin(gpu_inputs, length);
            self.crew.collect(begun, gpu_outputs, gpu_status)?;
        }
        Ok(())
    }

    /// Measures the device, the first time that there is a batch to be shared: what it gives is thrown away.
    fn try_gpu(&mut self, inputs: &[u8], length: usize) {
        let items = inputs.len() / length;
        let balance = || locked(&self.ready.balance);
        let Some(gpu) = &mut self.gpu else { return };
        if !balance().wants_trial(items) {
            return;
        }
        let mut trial = |items: usize| {
            let mut outputs = Zeroizing::new(vec![0; items * length]);
            let began = Instant::now();
            gpu.run(
                &inputs[..items * length],
                &mut outputs,
                &mut vec![Status::Done; items],
            )
            .map(|()| began.elapsed())
        };
        // The very first compiles, draws what blinds, and is not counted.
        let mut tried = trial(1)
            .and_then(|_| trial(1))
            .map(|took| balance().tried_one(took));
        // A larger batch will tell more, if this one is too small.
        if tried.is_ok() && balance().wants_trial(items) {
            let several = items.min(self.ready.gpu.as_ref().map_or(1, |gpu| gpu.lanes()));
            tried = trial(several)
                .and_then(|_| trial(several))
                .map(|took| balance().tried_several(several, took));
        }
        if let Err(error) = tried {
            self.give_up(&error);
        }
    }

    fn give_up(&mut self, error: &Error) {
        give_up(&self.ready.lost, error);
        self.gpu = None;
    }
}

/// Threads of this CPU, each with scratch of its own, that wait for pieces of batches.
struct Crew {
    members: Vec<Member>,
}

struct Member {
    tasks: Option<Sender<Task>>,
    thread: Option<JoinHandle<()>>,
}

/// A piece of a batch.
struct Task {
    inputs: Zeroizing<Vec<u8>>,
    items: usize,
    reply: Sender<Reply>,
}

struct Reply {
    done: Result<(), Error>,
    outputs: Zeroizing<Vec<u8>>,
    status: Vec<Status>,
    ended: Instant,
}

/// A batch that the crew has begun: where its pieces come from, in order.
struct Begun {
    pieces: Vec<Receiver<Reply>>,
    began: Instant,
}

impl Crew {
    fn start(key: &Arc<dyn Prepared>, threads: usize, cpus: &[usize]) -> Result<Self, Error> {
        let mut crew = Crew {
            members: Vec::with_capacity(threads),
        };
        for number in 0..threads {
            let (tasks, inbox) = mpsc::channel::<Task>();
            let (ready, is_ready) = mpsc::channel();
            let key = Arc::clone(key);
            let cpu = cpus.get(number % cpus.len().max(1)).copied();
            let thread = thread::Builder::new()
                .name(format!("split-{number}"))
                .spawn(move || {
                    if let Some(Err(error)) = cpu.map(pin_current_thread) {
                        let _ = ready.send(Err(thread_failed(&error.to_string())));
                        return;
                    }
                    let mut runner = match key.runner() {
                        Ok(runner) => {
                            let _ = ready.send(Ok(()));
                            runner
                        }
                        Err(error) => {
                            let _ = ready.send(Err(error));
                            return;
                        }
                    };
                    for task in inbox {
                        let mut outputs = Zeroizing::new(vec![0; task.inputs.len()]);
                        let mut status = vec![Status::Done; task.items];
                        let done = runner.run(&task.inputs, &mut outputs, &mut status);
                        // Whoever has gone does not want to know.
                        let _ = task.reply.send(Reply {
                            done,
                            outputs,
                            status,
                            ended: Instant::now(),
                        });
                    }
                })
                .map_err(|error| thread_failed(&error.to_string()))?;
            crew.members.push(Member {
                tasks: Some(tasks),
                thread: Some(thread),
            });
            is_ready
                .recv()
                .map_err(|_| thread_failed("it ended before it began"))??;
        }
        Ok(crew)
    }

    fn begin(&self, inputs: &[u8], length: usize) -> Begun {
        let items = inputs.len() / length;
        let threads = self.members.len();
        let began = Instant::now();
        let pieces = self.members.iter().enumerate().map(|(number, member)| {
            let piece = number * items / threads..(number + 1) * items / threads;
            let (reply, pieces) = mpsc::channel();
            let task = Task {
                items: piece.len(),
                inputs: Zeroizing::new(inputs[piece.start * length..piece.end * length].to_vec()),
                reply,
            };
            // One that has died drops the task, and with it the end of the channel that is asked later.
            if let (false, Some(tasks)) = (piece.is_empty(), &member.tasks) {
                let _ = tasks.send(task);
            }
            (!piece.is_empty()).then_some(pieces)
        });
        Begun {
            pieces: pieces.flatten().collect(),
            began,
        }
    }

    /// Waits for all pieces and puts them in their places; how long the last one took.
    fn collect(
        &self,
        begun: Begun,
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<Duration, Error> {
        let mut took = Duration::ZERO;
        let mut failed = None;
        let (mut outputs, mut status) = (outputs, status);
        for piece in begun.pieces {
            match piece.recv() {
                Ok(reply) => {
                    let (these, rest) = outputs.split_at_mut(reply.outputs.len());
                    these.copy_from_slice(&reply.outputs);
                    outputs = rest;
                    let (these, rest) = status.split_at_mut(reply.status.len());
                    these.copy_from_slice(&reply.status);
                    status = rest;
                    took = took.max(reply.ended - begun.began);
                    if let Err(error) = reply.done {
                        failed.get_or_insert(error);
                    }
                }
                Err(_) => {
                    failed.get_or_insert(thread_failed("it has ended"));
                }
            }
        }
        match failed {
            Some(error) => Err(error),
            None => Ok(took),
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for member in &mut self.members {
            member.tasks = None;
        }
        for member in &mut self.members {
            if let Some(thread) = member.thread.take() {
                // It has said on standard error what it died of, if it did.
                let _ = thread.join();
            }
        }
    }
}

fn thread_failed(reason: &str) -> Error {
    Error::Backend {
        backend: "cpu+gpu",
        reason: format!("a thread could not work: {reason}"),
    }
}

/// Candidates go to whichever side was faster with as many.
struct Tester<'a> {
    cpu: Box<dyn CandidateTester + 'a>,
    gpu: Option<Box<dyn CandidateTester + 'a>>,
    lost: &'a Lost,
    pre_tests: Preference,
    rounds: Preference,
}

/// What each side was seen to take, by the size of a batch to the next power of two.
#[derive(Default)]
struct Preference {
    seen: Vec<[Option<f64>; 2]>,
}

impl Preference {
    const CPU: usize = 0;
    const GPU: usize = 1;

    fn of(&mut self, items: usize) -> &mut [Option<f64>; 2] {
        let place = items.max(1).next_power_of_two().ilog2() as usize;
        if self.seen.len() <= place {
            self.seen.resize(place + 1, [None; 2]);
        }
        &mut self.seen[place]
    }

    /// The side for a batch of so many: the faster, once both were tried.
    fn side(&mut self, items: usize) -> usize {
        match *self.of(items) {
            [None, _] => Preference::CPU,
            [_, None] => Preference::GPU,
            [Some(cpu), Some(gpu)] if gpu < cpu => Preference::GPU,
            _ => Preference::CPU,
        }
    }

    fn saw(&mut self, side: usize, items: usize, took: Duration) {
        let seen = &mut self.of(items)[side];
        *seen = Some(mixed(*seen, took.as_secs_f64() / items.max(1) as f64));
    }
}

impl Tester<'_> {
    fn test(
        &mut self,
        which: fn(&mut Self) -> &mut Preference,
        items: usize,
        mut run: impl FnMut(&mut dyn CandidateTester) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let side = which(self).side(items);
        let began = Instant::now();
        if side == Preference::GPU
            && let Some(gpu) = &mut self.gpu
        {
            match run(gpu.as_mut()) {
                Ok(()) => {
                    which(self).saw(side, items, began.elapsed());
                    return Ok(());
                }
                Err(error) => {
                    // What is refused is refused by both: only a device that fails where the CPU does not is given up.
                    run(self.cpu.as_mut())?;
                    give_up(self.lost, &error);
                    self.gpu = None;
                    return Ok(());
                }
            }
        }
        let began = Instant::now();
        run(self.cpu.as_mut())?;
        which(self).saw(Preference::CPU, items, began.elapsed());
        Ok(())
    }
}

impl CandidateTester for Tester<'_> {
    fn pre_test(&mut self, candidates: &[u8], passed: &mut [bool]) -> Result<(), Error> {
        self.test(
            |tester| &mut tester.pre_tests,
            passed.len(),
            |side| side.pre_test(candidates, passed),
        )
    }

    fn round(&mut self, candidates: &[u8], bases: &[u8], passed: &mut [bool]) -> Result<(), Error> {
        self.test(
            |tester| &mut tester.rounds,
            passed.len(),
            |side| side.round(candidates, bases, passed),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn balance(cpu: f64, start: f64, item: f64) -> Balance {
        Balance {
            cpu: Some(cpu),
            gpu: Some(Device { start, item }),
            ..Balance::default()
        }
    }

    #[test]
    fn a_batch_is_cut_where_both_end_at_once() {
        // The device starts in as long as the CPU takes for ten items, and is four times as fast then.
        let balance = balance(1.0, 10.0, 0.25);
        assert_eq!(balance.share(0), 0);
        assert_eq!(balance.share(10), 0);
        assert_eq!(balance.share(11), 0);
        assert_eq!(balance.share(12), 1);
        for items in [12, 100, 10_000] {
            let gpu = balance.share(items);
            let (cpu_ends, gpu_ends) = ((items - gpu) as f64, 10.0 + gpu as f64 * 0.25);
            assert!((cpu_ends - gpu_ends).abs() <= 1.25, "{items}");
        }
    }

    #[test]
    fn an_unmeasured_device_gets_nothing_and_a_free_one_almost_everything() {
        assert_eq!(Balance::default().share(1000), 0);
        assert_eq!(balance(0.0, 0.0, 0.0).share(1000), 0);
        assert_eq!(balance(1.0, 0.0, 0.0).share(1000), 1000);
        assert_eq!(balance(1.0, 0.0, 1000.0).share(1000), 0);
    }

    #[test]
    fn measurements_are_mixed_and_starts_are_no_items() {
        let mut balance = Balance::default();
        balance.saw_cpu(0, Duration::from_secs(9));
        assert_eq!(balance.cpu, None);
        balance.saw_cpu(4, Duration::from_secs(4));
        balance.saw_cpu(1, Duration::from_secs(2));
        assert_eq!(balance.cpu, Some(1.25));
        assert!(balance.wants_trial(2) && !balance.wants_trial(1));
        balance.tried_one(Duration::from_secs(3));
        assert!(balance.wants_trial(3) && !balance.wants_trial(2));
        balance.tried_several(11, Duration::from_secs(8));
        assert!(!balance.wants_trial(1000));
        assert_eq!(
            balance.gpu,
            Some(Device {
                start: 2.5,
                item: 0.5
            })
        );
        balance.saw_gpu(10, Duration::from_millis(12_500));
        assert_eq!(balance.gpu.unwrap().item, 0.625);
        balance.tried_several(1, Duration::from_secs(3));
        assert_eq!(balance.gpu.unwrap().item, 0.0);
    }

    #[test]
    fn candidates_go_to_the_faster_side_once_both_were_tried() {
        let mut preference = Preference::default();
        assert_eq!(preference.side(100), Preference::CPU);
        preference.saw(Preference::CPU, 100, Duration::from_secs(1));
        assert_eq!(preference.side(128), Preference::GPU);
        preference.saw(Preference::GPU, 128, Duration::from_secs(1));
        assert_eq!(preference.side(70), Preference::GPU);
        // Other sizes are another matter.
        assert_eq!(preference.side(16), Preference::CPU);
        preference.saw(Preference::GPU, 128, Duration::from_secs(9));
        assert_eq!(preference.side(100), Preference::CPU);
    }
}
