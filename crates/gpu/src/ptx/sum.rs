//! Running sums of products, in registers.
//!
//! A product of 32 by 32 bits fills two columns. The assembler makes one instruction of a `mad.lo.cc.u32` and a
//! `madc.hi.cc.u32` if the two columns are a pair of registers that begins at an even one. So the sum is kept twice:
//! products of limbs at even places are added to pairs of columns (0, 1), (2, 3), …, those at odd places to pairs (1,
//! 2), (3, 4), …. A division by 2³² makes odd columns even and the reverse: the two halves change their names, and no
//! register is moved.
//!
//! **Squares** add a row's products from the diagonal on only, each with twice the limb: with `b[i]` the highest bit of
//! `a[i]`,
//!
//! ```text
//! a² = Σ_i 2³²⁽²ⁱ⁾ (a[i]² + a[i] b[i−1])  +  Σ_i Σ_{j>i} 2³²⁽ⁱ⁺ʲ⁾ a[j] (2 a[i] mod 2³² + b[i−1])
//! ```
//!
//! so that what a doubled limb loses at its top, the next row gets at its bottom. That is L (L + 1) / 2 + L² products
//! of 32 bits instead of 2 L².

use super::emitter::{Emitter, Operand, Word, ZERO, emit};

/// Instructions that hand on a carry.
pub(super) struct Chain {
    /// `true` if the carry flag holds something.
    is_live: bool,
}

impl Chain {
    pub(super) fn new() -> Self {
        Chain { is_live: false }
    }

    /// A pair of columns, the lower first, plus `a b`.
    fn multiply_add(&mut self, e: &mut Emitter, pair: &mut [Operand], a: Word, b: Word) {
        let [low, high] = pair else {
            unreachable!("columns come in pairs")
        };
        let (low_in, high_in) = (*low, *high);
        let (low, high) = (register(e, low), register(e, high));
        if !self.is_live && low_in == ZERO && high_in == ZERO {
            emit!(e, "mul.lo.u32", low, a, b);
            emit!(e, "mul.hi.u32", high, a, b);
            return;
        }
        let name = if self.is_live {
            "madc.lo.cc.u32"
        } else {
            "mad.lo.cc.u32"
        };
        emit!(e, name, low, a, b, low_in);
        emit!(e, "madc.hi.cc.u32", high, a, b, high_in);
        self.is_live = true;
    }

    /// A column plus a value.
    pub(super) fn add(&mut self, e: &mut Emitter, column: &mut Operand, value: impl Into<Operand>) {
        let value = value.into();
        if !self.is_live && value == ZERO {
            return;
        }
        if !self.is_live && *column == ZERO {
            *column = value;
            return;
        }
        let before = *column;
        let to = register(e, column);
        emit!(e, self.name("add.cc.u32", "addc.cc.u32"), to, before, value);
        self.is_live = true;
    }

    /// The highest column plus the carry, which it has room for.
    pub(super) fn end(self, e: &mut Emitter, column: &mut Operand) {
        if self.is_live {
            let before = *column;
            let to = register(e, column);
            emit!(e, "addc.u32", to, before, ZERO);
        }
    }

    fn name(&self, first: &'static str, later: &'static str) -> &'static str {
        if self.is_live { later } else { first }
    }
}

/// The register of a column, a new one if it has none yet.
fn register(e: &mut Emitter, column: &mut Operand) -> Word {
    if let Operand::Register(register) = *column {
        return register;
    }
    let register = e.word();
    *column = register.into();
    register
}

/// The term that a row adds to a pair of columns.
#[derive(Clone, Copy)]
pub(super) enum Term {
    Product(Word, Word),
    /// A value of 64 bits, the lower half first.
    Value(Word, Word),
}

/// A running sum of L columns and two more, in two halves.
pub(super) struct Sum {
    /// Columns 0 to L − 1, in pairs that begin at even columns.
    pub(super) even: Vec<Operand>,
    /// Columns 1 to L, in pairs that begin at odd columns.
    pub(super) odd: Vec<Operand>,
    /// Column L + 1.
    pub(super) top: Operand,
    /// The carry still to be added to column 0.
    pub(super) pending: Operand,
}

impl Sum {
    pub(super) fn of(even: Vec<Operand>) -> Self {
        Sum {
            odd: vec![ZERO; even.len()],
            even,
            top: ZERO,
            pending: ZERO,
        }
    }

    pub(super) fn limbs(&self) -> usize {
        self.even.len()
    }

    /// Divides by 2³² what it divides: column 0 is zero, and everything else changes its name.
    pub(super) fn shift(&mut self) {
        let even = std::mem::take(&mut self.even);
        self.even = std::mem::take(&mut self.odd);
        self.pending = even[1];
        self.odd = even[2..].to_vec();
        self.odd.extend([ZERO, self.top]);
        self.top = ZERO;
    }

    /// Adds terms to the columns of their places.
    pub(super) fn add_row(&mut self, e: &mut Emitter, terms: &[Option<Term>]) {
        let mut chain = Chain::new();
        for (place, term) in terms.iter().enumerate().skip(1).step_by(2) {
            add_term(e, &mut chain, &mut self.odd[place - 1..=place], term);
        }
        chain.end(e, &mut self.top);
        let mut chain = Chain::new();
        for (place, term) in terms.iter().enumerate().step_by(2) {
            add_term(e, &mut chain, &mut self.even[place..=place + 1], term);
        }
        self.end_even(e, chain);
    }

    fn end_even(&mut self, e: &mut Emitter, mut chain: Chain) {
        let last = self.limbs() - 1;
        chain.add(e, &mut self.odd[last], ZERO);
        chain.end(e, &mut self.top);
    }

    /// Adds the multiple of n that makes column 0 zero, and returns the factor.
    pub(super) fn reduce(&mut self, e: &mut Emitter, n: &[Word], n0: Word) -> Word {
        let mut chain = Chain::new();
        let pending = std::mem::replace(&mut self.pending, ZERO);
        chain.add(e, &mut self.even[0], pending);
        // A multiplication leaves the carry alone.
        let quotient = e.of2("mul.lo.u32", self.even[0], n0);
        for place in (1..self.limbs()).step_by(2) {
            let pair = &mut self.odd[place - 1..=place];
            chain.multiply_add(e, pair, n[place], quotient);
        }
        chain.end(e, &mut self.top);
        let mut chain = Chain::new();
        for place in (0..self.limbs()).step_by(2) {
            let pair = &mut self.even[place..=place + 1];
            chain.multiply_add(e, pair, n[place], quotient);
        }
        self.end_even(e, chain);
        quotient
    }

    /// Both halves in one, and the column above them.
    pub(super) fn join(mut self, e: &mut Emitter) -> (Vec<Word>, Word) {
        let mut chain = Chain::new();
        let mut odd = std::mem::take(&mut self.odd);
        let mut top = odd.pop().expect("there are columns");
        chain.add(e, &mut self.even[0], self.pending);
        for (column, odd) in self.even[1..].iter_mut().zip(odd) {
            chain.add(e, column, odd);
        }
        chain.end(e, &mut top);
        let limbs = self.even.iter_mut().map(|column| register(e, column));
        (limbs.collect(), register(e, &mut top))
    }
}

fn add_term(e: &mut Emitter, chain: &mut Chain, pair: &mut [Operand], term: &Option<Term>) {
    match *term {
        // Below the diagonal nothing is added, and no carry comes from there.
        None => debug_assert!(!chain.is_live),
        Some(Term::Product(a, b)) => chain.multiply_add(e, pair, a, b),
        Some(Term::Value(low, high)) => {
            chain.add(e, &mut pair[0], low);
            chain.add(e, &mut pair[1], high);
        }
    }
}

/// The terms that a row of a square adds, from the diagonal on.
pub(super) fn row_of_square(e: &mut Emitter, a: &[Word], row: usize) -> Vec<Option<Term>> {
    let mut terms = vec![None; a.len()];
    let doubled = e.word();
    if row == 0 {
        emit!(e, "shl.b32", doubled, a[0], 1);
        terms[0] = Some(Term::Product(a[0], a[0]));
    } else {
        // The bit that the row before has lost, times the limb on the diagonal.
        let bit = e.of2("shr.s32", a[row - 1], 31);
        let lost = e.of2("and.b32", a[row], bit);
        let (low, high) = (e.word(), e.word());
        emit!(e, "mad.lo.cc.u32", low, a[row], a[row], lost);
        emit!(e, "madc.hi.u32", high, a[row], a[row], ZERO);
        terms[row] = Some(Term::Value(low, high));
        emit!(e, "shf.l.wrap.b32", doubled, a[row - 1], a[row], 1);
    }
    for (term, &a) in terms.iter_mut().zip(a).skip(row + 1) {
        *term = Some(Term::Product(a, doubled));
    }
    terms
}

/// `to = t + top R`, less n if that is not negative, for a sum below 2 n. `to` may be t.
pub(super) fn subtract_once(e: &mut Emitter, to: &[Word], t: &[Word], top: Operand, n: &[Word]) {
    let less: Vec<Word> = t
        .iter()
        .zip(n)
        .enumerate()
        .map(|(place, (&t, &n))| e.of2(if place == 0 { "sub.cc.u32" } else { "subc.cc.u32" }, t, n))
        .collect();
    // All ones if that was negative.
    let keep = e.word();
    emit!(e, "subc.u32", keep, top, ZERO);
    for ((&to, &t), less) in to.iter().zip(t).zip(less) {
        e.choose(to, t, less, keep);
    }
}
