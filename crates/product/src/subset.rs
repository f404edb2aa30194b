//! Factors that moduli share, a subset of them at a time: for more moduli than a memory or a machine holds (Hastings,
//! Fried and Heninger, "Weak keys remain widespread in network devices", 2016), and for new ones beside old ones.
//!
//! ```text
//! each subset:         its product Z_j                                   Product::of
//! then, of each:       up its tree, to Z_j and D_j                       Subset::grow
//!                      the product of all other Z_i modulo Z_j, times D_j
//!                      down the tree                                     Subset::shared_factors
//! ```
//!
//! Modulo N, one of subset j, D_j is Z_j/N, so that this is what one tree of all has there: the product of all others
//! modulo N. What is found is the same for any subsets.
//!
//! Going through the others takes two products of half the subset's length for each that is as long as it, so that k
//! subsets cost about as much as k levels of the tree instead of log2 k.

use once_cell::race::OnceBox;

use crate::{
    divisor::Divisor,
    gcd::gcd,
    natural::{bit_length, from_bytes, shift_left, shift_right, to_bytes, trailing_zeros, trim},
    product::Multiplier,
    team,
    tree::{Levels, Node, descend, grow, map},
};

/// The product of some moduli: what another subset needs of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    odd: Vec<u64>,
    twos: u64,
}

impl Product {
    /// Of these moduli (big-endian bytes), those of 0 and 1 left out, on up to so many threads. `progress` is called on
    /// this one, with the share of the work that is done.
    pub fn of<M: AsRef<[u8]>>(moduli: &[M], threads: usize, progress: &mut dyn FnMut(f64)) -> Self {
        let (split, threads) = (Split::of(moduli), threads.max(1));
        let multiplier = Multiplier::new(threads);
        Self {
            odd: product_of(&multiplier, threads, split.odd, progress),
            twos: split.all_twos,
        }
    }

    /// The factor that a modulus (big-endian bytes) shares with it; `None` where that is 1, or the modulus 0.
    pub fn common_factor(&self, modulus: &[u8]) -> Option<Vec<u8>> {
        let split = Split::of(&[modulus]);
        let found = split.odd.iter().map(|odd| {
            let multiplier = Multiplier::new(1);
            let rest = Divisor::new(&multiplier, odd).remainder(&multiplier, &self.odd);
            gcd(odd, trim(&rest))
        });
        let found = found.collect();
        split.factors(found, |twos| (twos as u64).min(self.twos)).remove(0)
    }

    /// As bytes: eight for how often it is divided by two, and then the odd rest, little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 * (self.odd.len() + 1));
        bytes.extend(self.twos.to_le_bytes());
        bytes.extend(self.odd.iter().flat_map(|limb| limb.to_le_bytes()));
        bytes
    }

    /// Of its bytes; none where they are no product's.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (words, rest) = bytes.as_chunks::<8>();
        let (&twos, odd) = words.split_first()?;
        let odd: Vec<u64> = odd.iter().map(|&word| u64::from_le_bytes(word)).collect();
        let is_odd = odd.first().is_some_and(|low| low & 1 == 1);
        (rest.is_empty() && is_odd).then(|| Self {
            odd,
            twos: u64::from_le_bytes(twos),
        })
    }
}

/// A subset of moduli, with the tree of their products.
#[derive(Debug)]
pub struct Subset<L> {
    multiplier: Multiplier,
    threads: usize,
    split: Split,
    levels: L,
    /// None without a modulus.
    root: Option<Node>,
    /// The root as a divisor, once it was asked for.
    divisor: OnceBox<Divisor>,
}

/// Limbs of the products that threads make each by itself: others are multiplied one after the other, on all threads,
/// since such products take some fifty times their length.
const AT_ONCE: usize = 1 << 18;

impl<L: Levels> Subset<L> {
    /// Grows the tree of these moduli (big-endian bytes), on up to so many threads. `progress` is called on this one,
    /// with the share of that work that is done.
    ///
    /// # Errors
    /// A level cannot be kept.
    pub fn grow<M: AsRef<[u8]>>(
        moduli: &[M],
        threads: usize,
        mut levels: L,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Self, L::Error> {
        let (split, threads) = (Split::of(moduli), threads.max(1));
        let multiplier = Multiplier::new(threads);
        let root = match split.odd.is_empty() {
            true => None,
            false => Some(grow(&multiplier, threads, &split.odd, &mut levels, progress)?),
        };
        Ok(Self {
            multiplier,
            threads,
            split,
            levels,
            root,
            divisor: OnceBox::new(),
        })
    }

    /// The product of its moduli.
    pub fn product(&self) -> Product {
        Product {
            odd: self.root.as_ref().map_or_else(|| vec![1], |root| root.z.clone()),
            twos: self.split.all_twos,
        }
    }

    /// For each modulus (big-endian bytes) what it shares with the product of all others of the subset and of `others`:
    /// `None` where that is 1. Moduli of 0 and 1 are left out.
    ///
    /// # Errors
    /// One of the others cannot be had, or a level cannot be read.
    pub fn shared_factors<E: From<L::Error>>(
        mut self,
        others: impl IntoIterator<Item = Result<Product, E>>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Vec<Option<Vec<u8>>>, E> {
        let mut all_twos = self.split.all_twos;
        let mut found = Vec::new();
        if let Some(mut root) = self.root.take() {
            let mut others = others
                .into_iter()
                .map(|other| {
                    other.map(|other| {
                        all_twos += other.twos;
                        other.odd
                    })
                })
                .peekable();
            // A whole set has no others, and needs no reciprocal of its product, which takes a tenth of all.
            if others.peek().is_some() {
                let divisor = Divisor::new(&self.multiplier, &root.z);
                let product = product_modulo(&self.multiplier, self.threads, &divisor, others)?;
                let d = divisor.reduce(&self.multiplier, &root.d);
                let d = self.multiplier.multiply(&d, &product);
                root.d = trim(&divisor.remainder(&self.multiplier, &d)).to_vec();
            }
            found = descend(
                &self.multiplier,
                self.threads,
                &self.split.odd,
                root,
                &mut self.levels,
                progress,
            )?;
        } else {
            for other in others {
                all_twos += other?.twos;
            }
        }
        Ok(self
            .split
            .factors(found, |twos| (twos as u64).min(all_twos - twos as u64)))
    }
}

impl Subset<Vec<Vec<Vec<u64>>>> {
    /// For each modulus what it shares with another product; `None` where that is 1. May be asked often.
    pub fn common_factors(&self, other: &Product) -> Vec<Option<Vec<u8>>> {
        let found = self.root.as_ref().map_or_else(Vec::new, |root| {
            let divisor = self
                .divisor
                .get_or_init(|| Box::new(Divisor::new(&self.multiplier, &root.z)));
            let root = Node {
                z: root.z.clone(),
                d: trim(&divisor.remainder(&self.multiplier, &other.odd)).to_vec(),
            };
            let mut levels = self.levels.clone();
            let found = descend(
                &self.multiplier,
                self.threads,
                &self.split.odd,
                root,
                &mut levels,
                &mut |_| {},
            );
            found.unwrap_or_else(|never| match never {})
        });
        self.split.factors(found, |twos| (twos as u64).min(other.twos))
    }
}

/// Moduli as odd numbers and powers of two.
#[derive(Clone, Debug)]
struct Split {
    /// Of each modulus, how often two divides it.
    twos: Vec<usize>,
    all_twos: u64,
    /// The odd parts above 1, those of like length next to each other, and the places of their moduli.
    odd: Vec<Vec<u64>>,
    places: Vec<usize>,
}

impl Split {
    fn of<M: AsRef<[u8]>>(moduli: &[M]) -> Self {
        let mut numbers: Vec<Vec<u64>> = moduli.iter().map(|bytes| from_bytes(bytes.as_ref())).collect();
        let twos: Vec<usize> = numbers.iter().map(|number| trailing_zeros(number)).collect();
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_by_key(|&i| bit_length(&numbers[i]));
        let (mut odd, mut places) = (Vec::with_capacity(order.len()), Vec::with_capacity(order.len()));
        for i in order {
            let part = match twos[i] {
                0 => std::mem::take(&mut numbers[i]),
                bits => shift_right(&numbers[i], bits),
            };
            if bit_length(&part) > 1 {
                places.push(i);
                odd.push(part);
            }
        }
        Self {
            all_twos: twos.iter().map(|&twos| twos as u64).sum(),
            twos,
            odd,
            places,
        }
    }

    /// The factors of all moduli, big-endian, from those of the odd parts and the power of two of each; none for 1.
    fn factors(&self, found: Vec<Vec<u64>>, twos: impl Fn(usize) -> u64) -> Vec<Option<Vec<u8>>> {
        let mut shared: Vec<Vec<u64>> = vec![vec![1]; self.twos.len()];
        for (&place, factor) in self.places.iter().zip(found) {
            shared[place] = factor;
        }
        let factors = shared.into_iter().zip(&self.twos).map(|(factor, &of_modulus)| {
            // No more than the modulus has.
            let twos = twos(of_modulus) as usize;
            let mut shifted = vec![0; twos / 64];
            shifted.extend(shift_left(&factor, (twos % 64) as u32));
            (bit_length(&shifted) > 1).then(|| to_bytes(&shifted))
        });
        factors.collect()
    }
}

/// The product of all, 1 without any.
fn product_of(
    multiplier: &Multiplier,
    threads: usize,
    mut numbers: Vec<Vec<u64>>,
    progress: &mut dyn FnMut(f64),
) -> Vec<u64> {
    let levels = f64::from(numbers.len().max(1).next_power_of_two().ilog2());
    let mut done = 0.0;
    while numbers.len() > 1 {
        let last = (numbers.len() % 2 == 1).then(|| numbers.pop()).flatten();
        let mut next = map(multiplier, threads, numbers.len() / 2, &|multiplier, i| {
            trim(&multiplier.multiply(&numbers[2 * i], &numbers[2 * i + 1])).to_vec()
        });
        next.extend(last);
        numbers = next;
        done += 1.0;
        progress(done / levels);
    }
    numbers.pop().unwrap_or_else(|| vec![1])
}

/// The product of all others modulo a number, 1 without any.
///
/// Short ones are multiplied before they are reduced, until they are about as long as the number.
fn product_modulo<E>(
    multiplier: &Multiplier,
    threads: usize,
    divisor: &Divisor,
    others: impl Iterator<Item = Result<Vec<u64>, E>>,
) -> Result<Vec<u64>, E> {
    let lanes = (AT_ONCE / divisor.limbs().max(1)).clamp(1, threads.max(1));
    let mut products: Vec<Option<Vec<u64>>> = vec![None; lanes];
    let mut groups: Vec<Vec<Vec<u64>>> = Vec::new();
    let (mut group, mut limbs) = (Vec::new(), 0);
    for other in others {
        let other = other?;
        if limbs + other.len() > divisor.limbs() && !group.is_empty() {
            groups.push(std::mem::take(&mut group));
            limbs = 0;
            if groups.len() == lanes {
                multiply_in(multiplier, divisor, &mut products, &mut groups);
            }
        }
        limbs += other.len();
        group.push(other);
    }
    groups.extend((!group.is_empty()).then_some(group));
    multiply_in(multiplier, divisor, &mut products, &mut groups);
    let times = |a: Vec<u64>, b: Vec<u64>| divisor.reduce(multiplier, &multiplier.multiply(&a, &b));
    Ok(products.into_iter().flatten().reduce(times).unwrap_or_else(|| vec![1]))
}

/// Multiplies a group into each product.
fn multiply_in(
    multiplier: &Multiplier,
    divisor: &Divisor,
    products: &mut [Option<Vec<u64>>],
    groups: &mut Vec<Vec<Vec<u64>>>,
) {
    let (lanes, threads) = (products.len(), groups.len());
    let single = if lanes > 1 { &multiplier.single() } else { multiplier };
    let tasks = products.iter_mut().zip(groups.drain(..)).collect();
    team::for_each(threads, tasks, |(product, group): (&mut Option<Vec<u64>>, _)| {
        let mut factor = product_of(single, 1, group, &mut |_| {});
        if factor.len() > divisor.limbs() {
            factor = divisor.reduce(single, &factor);
        }
        *product = Some(match product.take() {
            None => factor,
            Some(before) => divisor.reduce(single, &single.multiply(&before, &factor)),
        });
    });
}
