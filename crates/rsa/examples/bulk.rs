//! Makes keys and says how long it took: `cargo run --release --example bulk -- 2048 200`.
use rsalab_rsa::{CpuBackend, generate::Generation, random::WorkerRng};
fn main() {
    let mut a = std::env::args()
        .skip(1)
        .map(|a| a.parse::<usize>().unwrap());
    let (bits, count) = (a.next().unwrap(), a.next().unwrap());
    let g = Generation::new(bits, 65537, Box::new(CpuBackend::auto())).unwrap();
    let mut g = g
        .generator(WorkerRng::from_system().unwrap())
        .unwrap()
        .looking_ahead();
    g.keys(16).unwrap();
    let t = std::time::Instant::now();
    let keys = g.keys(count).unwrap();
    println!(
        "{:.1} keys/s, {:?}",
        keys.len() as f64 / t.elapsed().as_secs_f64(),
        g.counts()
    );
}
