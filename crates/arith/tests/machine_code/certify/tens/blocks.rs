//! Numbers of two and more blocks of ten digits: a window of a power, and the operations that stand alone. Functions
//! are called in the order, and with the places in memory, of `ifma_blocks.rs`.
//!
//! An operation is cut where its parts meet: what one has left is forgotten, but for its bounds, and what the next one
//! does is shown for anything within them. With R = X^L, so many digits a, b, n, and I = 1 / X^10 mod n, parts leave
//!
//! ```text
//! columns c        sum of c_k X^k = a b, the lowest ten of them digits
//! partially        sum of c'_k X^k = (sum of c_k X^k - d) / X^10 + d I, for the lowest ten digits d, as often as there are
//! reduced c'       blocks but one
//! r                X^10 r = sum of c'_k X^k + sum over k < 10 of q_k X^k n, twice that where it is doubled
//! ```
//!
//! The last ten of r are digits, or columns that the next operation makes digits of, beside a block that does not need
//! them. Numbers are not negative and below R, by the kernel's argument, so that the highest digit carries nothing out.

use super::*;

/// Bounds of columns that are left between operations, from less than zero.
const COLUMN: [i128; 2] = [-(1 << 62), 1 << 62];

/// Numbers of so many digits.
#[derive(Clone, Copy)]
pub(in super::super) struct Contract {
    pub(in super::super) digits: usize,
    /// Of a digit that goes in.
    pub(in super::super) digit_bits: u32,
}

/// The form of a result's last ten columns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Digits,
    Doubled,
    Columns,
}

struct Run<'a> {
    code: &'a dyn Fn(&str) -> Code,
    frame: Frame,
    blocks: usize,
    /// Digits of a, but for the last ten of a number that has columns there.
    values: Vec<Value>,
    b_values: Vec<Value>,
    n_values: Vec<Value>,
    inverse_values: Vec<Value>,
    minus_values: Vec<Value>,
    a: Region,
    b: Region,
    n: Region,
    inverse: Region,
    /// -1 / n mod X.
    minus: Region,
    working: Region,
    double: Region,
    table: Vec<Value>,
    table_region: Region,
    masks: Region,
    /// The entry's number in each lane.
    wanted: [usize; LANES],
}

impl Contract {
    /// Certifies what is done to such numbers, or says why not.
    pub(in super::super) fn certify(self, code: &dyn Fn(&str) -> Code) -> Result<(), Refusal> {
        let alone = [
            ("a square", false, End::Digits),
            ("a product", true, End::Digits),
            ("a doubled square", false, End::Doubled),
        ];
        for (name, is_product, end) in alone {
            let mut run = Run::new(self, code, 0);
            let shown = run.operation(is_product, false, None, end);
            shown.map_err(|refusal| format!("{name}: {refusal}"))?;
        }
        // Each entry, in some lane.
        (0..ENTRIES).step_by(LANES).try_for_each(|first| {
            let shown = Run::new(self, code, first).window();
            shown.map_err(|refusal| format!("a window: {refusal}"))
        })
    }
}

impl<'a> Run<'a> {
    fn new(contract: Contract, code: &'a dyn Fn(&str) -> Code, first: usize) -> Self {
        let Contract { digits, digit_bits } = contract;
        let mut frame = Frame::new();
        let mut number = || frame.digits(digits, digit_bits);
        let (values, b_values, n_values, inverse_values) = (number(), number(), number(), number());
        let minus_values = frame.unknown(1, [1, LARGEST]);
        // All ones, as the negative of a bit.
        let is_doubled = (0..LANES).map(|lane| -((lane % 2) as i128));
        let double = cells(&constants(is_doubled));
        let a = frame.region("a", cells(&values), true);
        let b = frame.region("b", cells(&b_values), true);
        let n = frame.region("n", cells(&n_values), false);
        let inverse = frame.region("1 / X^10", cells(&inverse_values), false);
        let minus = frame.region("-1 / n", cells(&minus_values), false);
        let working = frame.room("working memory", 4 * digits + 2 * (ROWS + 1));
        let double = frame.region("a mask", double, false);
        let masks = frame.room("masks", 1);
        let table = frame.digits(ENTRIES * digits, digit_bits);
        let table_region = frame.region("the table", cells(&table), false);
        Self {
            code,
            frame,
            blocks: digits / ROWS,
            values,
            b_values,
            n_values,
            inverse_values,
            minus_values,
            a,
            b,
            n,
            inverse,
            minus,
            working,
            double,
            table,
            table_region,
            masks,
            wanted: std::array::from_fn(|lane| (first + lane) % ENTRIES),
        }
    }

    fn digits(&self) -> usize {
        ROWS * self.blocks
    }

    fn call(&mut self, name: &str, arguments: &[Word]) -> Result<(), Refusal> {
        let code = (self.code)(name);
        self.frame
            .call(&code, arguments)
            .map_err(|refusal| format!("{name}: {refusal}"))
    }

    /// Squares with a table looked up beside them, the product, and the end of a power.
    fn window(&mut self) -> Result<(), Refusal> {
        self.columns_between(COLUMN);
        self.frame.machine.regions[self.masks.0].cells[..BITS].clone_from_slice(&cells(&masks_of(&self.wanted)));
        for squaring in 0..BITS {
            self.operation(false, true, Some(VECS * self.blocks * squaring), End::Columns)?;
        }
        self.b_values = entries_of(&self.table, &self.wanted, self.digits(), self.digits());
        self.frame.is_there(self.b, 0, &self.b_values, "what is looked up")?;
        self.operation(true, true, None, End::Columns)?;
        let (last, columns) = (self.digits() - ROWS, self.last_ten());
        self.call("digits", &[self.a.at(last)])?;
        self.frame.are_digits(self.a, last, &columns)
    }

    fn last_ten(&self) -> Vec<Value> {
        self.values[(self.digits() - ROWS) * LANES..].to_vec()
    }

    /// The number becomes another one, its last ten digits anything within these bounds.
    fn columns_between(&mut self, bounds: [i128; 2]) {
        let digits = self.digits();
        self.values = self.frame.digits(digits - ROWS, DIGIT_BITS);
        let last = self.frame.unknown(ROWS, bounds);
        self.values.extend(last);
        self.frame.machine.regions[self.a.0].cells = cells(&self.values);
    }

    /// One operation, from its factors to its result; beside it, vecs from so many on are looked up.
    fn operation(
        &mut self,
        is_product: bool,
        has_columns: bool,
        look_up: Option<usize>,
        end: End,
    ) -> Result<(), Refusal> {
        match is_product {
            true => self.multiply(has_columns)?,
            false => self.square(has_columns)?,
        }
        self.are_products(is_product)?;
        for block in 1..self.blocks {
            self.cut(block - 1);
            self.reduce_partially(block, look_up)?;
        }
        self.cut(self.blocks - 1);
        self.reduce(end)
    }

    /// A place in working memory for the columns of a block.
    fn of_block(&self, block: usize) -> Word {
        let first = if block + 1 < self.blocks { 2 * self.digits() } else { 0 };
        self.working.at(first + 2 * ROWS * block)
    }

    fn sums(&self, which: usize) -> Word {
        self.working.at(4 * self.digits() + which * (ROWS + 1))
    }

    /// Calls `multiply` for each pair of blocks with places for its columns.
    fn add_pairs(
        &mut self,
        multiply: impl Fn(&mut Self, usize, usize, Word, [Word; 2]) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let mut end = ROWS;
        for i in 0..self.blocks {
            for j in i + 1..self.blocks {
                let first = ROWS * (i + j);
                let there = [first, first + ROWS].map(|at| {
                    let is_last = at >= 2 * ROWS * (self.blocks - 1);
                    let memory = if at < end || is_last { 0 } else { 2 * self.digits() };
                    self.working.at(memory + at)
                });
                multiply(self, i, j, self.working.at(first), there)?;
                end = end.max(first + 2 * ROWS);
            }
        }
        Ok(())
    }

    /// Shows that the last ten columns of a have become digits, and puts others there.
    fn carried(&mut self) -> Result<(), Refusal> {
        let last = self.digits() - ROWS;
        self.frame.are_digits(self.a, last, &self.last_ten())?;
        self.values.truncate(last * LANES);
        let digits = self.frame.digits(ROWS, DIGIT_BITS);
        self.values.extend(digits);
        self.frame.machine.regions[self.a.0].cells = cells(&self.values);
        Ok(())
    }

    fn square(&mut self, has_columns: bool) -> Result<(), Refusal> {
        let a = self.a;
        let ten = |block: usize| a.at(ROWS * block);
        let lowest = [self.of_block(0), ten(0), ten(self.blocks - 1)];
        match has_columns {
            true => {
                self.call("square_lowest_and_carry", &lowest)?;
                self.carried()?;
            }
            false => self.call("square_lowest", &lowest[..2])?,
        }
        self.call("square_and_sum", &[self.of_block(1), ten(1), self.sums(0), ten(0)])?;
        for block in 2..self.blocks {
            self.call("square", &[self.of_block(block), ten(block)])?;
        }
        self.add_pairs(|run, i, j, to, there| {
            if (i, j) != (0, 1) {
                run.call("sum", &[run.sums(0), ten(i), ten(j)])?;
            }
            let blocks = [run.of_block(i), run.of_block(j)];
            run.call(
                "square_pair",
                &[to, run.sums(0), blocks[0], blocks[1], there[0], there[1]],
            )
        })
    }

    fn multiply(&mut self, has_columns: bool) -> Result<(), Refusal> {
        let (a, b) = (self.a, self.b);
        let ten = |of: Region, block: usize| of.at(ROWS * block);
        let lowest = [self.of_block(0), ten(a, 0), ten(b, 0), ten(a, self.blocks - 1)];
        match has_columns {
            true => {
                self.call("product_lowest_and_carry", &lowest)?;
                self.carried()?;
            }
            false => self.call("product_lowest", &lowest[..3])?,
        }
        let second = [
            self.of_block(1),
            ten(a, 1),
            ten(b, 1),
            self.sums(0),
            ten(a, 0),
            ten(b, 0),
        ];
        self.call("product_and_sums", &second)?;
        for block in 2..self.blocks {
            self.call("product", &[self.of_block(block), ten(a, block), ten(b, block)])?;
        }
        self.add_pairs(|run, i, j, to, there| {
            if (i, j) != (0, 1) {
                run.call("sum", &[run.sums(0), ten(a, i), ten(a, j)])?;
                run.call("sum", &[run.sums(1), ten(b, i), ten(b, j)])?;
            }
            let blocks = [run.of_block(i), run.of_block(j)];
            run.call(
                "product_pair",
                &[to, run.sums(0), blocks[0], blocks[1], there[0], there[1]],
            )
        })
    }

    /// The place of a column, where the first `block` tens of them are to be reduced, or have been.
    fn place(&self, block: usize, column: usize) -> usize {
        // The lowest ten of all.
        let are_apart = block == 0 && column < ROWS;
        if are_apart { 2 * self.digits() + column } else { column }
    }

    /// The columns from ten times `block` on, in a lane.
    fn columns(&self, block: usize, lane: usize) -> Result<Vec<Value>, Refusal> {
        let all = (ROWS * block..2 * self.digits()).map(|column| {
            let bounds = if column < ROWS * (block + 1) && block + 1 < self.blocks {
                [0, LARGEST]
            } else {
                COLUMN
            };
            self.frame
                .number(self.working, self.place(block, column), lane, bounds)
                .cloned()
        });
        all.collect()
    }

    /// The columns from ten times `block` on become anything within their bounds.
    fn cut(&mut self, block: usize) {
        for column in ROWS * block..2 * self.digits() {
            let first = self.place(block, column) * LANES;
            for at in first..first + LANES {
                let cell = &self.frame.machine.regions[self.working.0].cells[at];
                let Cell::Number(value) = cell else { continue };
                let bounds = [value.least, value.most];
                let value = self.frame.machine.algebra.input(bounds[0], bounds[1]);
                self.frame.machine.regions[self.working.0].cells[at] = Cell::Number(value);
            }
        }
    }

    /// A monomial without names; the square of a bit is the bit.
    fn expanded(&self, Monomial(x, y): Monomial) -> Option<Polynomial> {
        let algebra = &self.frame.machine.algebra;
        let name = |atom: Atom| match &algebra.known(atom).origin {
            Origin::Name(polynomial) => Some(polynomial),
            _ => None,
        };
        let is_bit = |atom: Atom| (algebra.known(atom).least, algebra.known(atom).most) == (0, 1);
        if x == y && x != ONE && is_bit(x) && name(x).is_none() {
            return Some(Polynomial::of(Monomial::of(x), 1));
        }
        if name(x).is_none() && name(y).is_none() {
            return None;
        }
        let factor = |atom: Atom| name(atom).cloned().unwrap_or(Polynomial::of(Monomial::of(atom), 1));
        match x {
            ONE => name(y).cloned(),
            _ => factor(x).product(&factor(y)),
        }
    }

    /// Shows that the columns are those of the product.
    fn are_products(&self, is_product: bool) -> Result<(), Refusal> {
        let b = if is_product { &self.b_values } else { &self.values };
        for lane in 0..LANES {
            let mut identity = Identity::new(DIGIT_BITS);
            for (place, column) in self.columns(0, lane)?.iter().enumerate() {
                identity.add(&column.polynomial, 1, place);
            }
            for i in 0..self.digits() {
                for j in 0..self.digits() {
                    let of = |values: &[Value], digit: usize| atom(&values[digit * LANES + lane]);
                    identity.add_term(Monomial::product(of(&self.values, i), of(b, j)), -1, i + j);
                }
            }
            let expanded = |monomial| self.expanded(monomial);
            let identity = identity.expand(expanded).expand(expanded).expand(expanded);
            if let Some((monomial, digits)) = identity.rest().first_key_value() {
                return Err(format!("it is not a b: {monomial:?} is left, times {digits:?}"));
            }
        }
        Ok(())
    }

    /// Takes ten more columns away.
    fn reduce_partially(&mut self, block: usize, look_up: Option<usize>) -> Result<(), Refusal> {
        let before: Result<Vec<Vec<Value>>, Refusal> = (0..LANES).map(|lane| self.columns(block - 1, lane)).collect();
        let before = before?;
        let onto = self.working.at(ROWS * block);
        let ten = self.working.at(self.place(block - 1, ROWS * (block - 1)));
        let blocks = Word::Integer(self.blocks as i64);
        let mut arguments = vec![onto, ten, self.inverse.at(0), blocks];
        match look_up {
            _ if block + 1 < self.blocks => self.call("rows_and_carry", &arguments)?,
            None => self.call("rows", &arguments)?,
            Some(vec) => {
                let entry = Word::Integer((self.digits() * LANES * WORD) as i64);
                let job = [self.table_region.at(vec), self.b.at(vec), self.masks.at(0), entry];
                let job = self.frame.region("a job", job.map(Cell::Public).into(), false);
                arguments.push(job.at(0));
                self.call("rows_and_look_up", &arguments)?;
            }
        }
        for (lane, before) in before.iter().enumerate() {
            let mut identity = Identity::new(DIGIT_BITS);
            for (place, column) in self.columns(block, lane)?.iter().enumerate() {
                identity.add(&column.polynomial, -1, place);
            }
            for (place, column) in before[ROWS..].iter().enumerate() {
                identity.add(&column.polynomial, 1, place);
            }
            for (i, ten) in before[..ROWS].iter().enumerate() {
                for j in 0..self.digits() {
                    let inverse = atom(&self.inverse_values[j * LANES + lane]);
                    identity.add_term(Monomial::product(atom(ten), inverse), 1, i + j);
                }
            }
            if let Some((monomial, digits)) = identity.rest().first_key_value() {
                return Err(format!(
                    "it is not reduced by block {block}: {monomial:?} is left, times {digits:?}"
                ));
            }
        }
        Ok(())
    }

    /// The last ten digits of the quotient.
    fn reduce(&mut self, end: End) -> Result<(), Refusal> {
        let digits = self.digits();
        let before: Result<Vec<Vec<Value>>, Refusal> =
            (0..LANES).map(|lane| self.columns(self.blocks - 1, lane)).collect();
        let before = before?;
        let first = self.frame.machine.algebra.atoms();
        let name = match end {
            End::Digits => "reduce",
            End::Doubled => "reduce_and_double",
            End::Columns => "reduce_and_leave",
        };
        let arguments = [
            self.a.at(0),
            self.working.at(digits - ROWS),
            self.n.at(0),
            self.minus.at(0),
            Word::Integer(self.blocks as i64 - 1),
            self.double.at(0),
        ];
        self.call(name, &arguments[..if end == End::Doubled { 6 } else { 5 }])?;
        for (lane, before) in before.iter().enumerate() {
            let times = if end == End::Doubled && lane % 2 == 1 { 2 } else { 1 };
            let of = |values: &[Value], digit: usize| atom(&values[digit * LANES + lane]);
            let algebra = &self.frame.machine.algebra;
            let mut identity = Identity::new(DIGIT_BITS);
            let known = [of(&self.n_values, 0), of(&self.minus_values, 0)];
            let quotients = clear(&mut identity, algebra, first, known, times)?;
            for place in 0..digits {
                let is_column = end == End::Columns && place >= digits - ROWS;
                let bounds = if is_column { COLUMN } else { [0, LARGEST] };
                let value = self.frame.number(self.a, place, lane, bounds)?;
                identity.add(&value.polynomial, 1, ROWS + place);
            }
            for (place, column) in before.iter().enumerate() {
                identity.add(&column.polynomial, -times, place);
            }
            for (place, &quotient) in quotients.iter().enumerate() {
                for digit in 0..digits {
                    let product = Monomial::product(quotient, of(&self.n_values, digit));
                    identity.add_term(product, -times, place + digit);
                }
            }
            // Columns that were doubled have names, as digits of the quotient have.
            let expanded = |monomial: Monomial| match monomial {
                Monomial(ONE, x) if !quotients.contains(&x) => self.expanded(monomial),
                _ => None,
            };
            let shown = self.frame.lost(&identity.expand(expanded), ROWS + digits);
            shown.map_err(|left| format!("it is not reduced: {left}"))?;
        }
        self.columns_between(if end == End::Columns { COLUMN } else { [0, LARGEST] });
        Ok(())
    }
}
