//! Digests of many messages.

use std::cmp::Reverse;

use crate::{
    Function, alone,
    block::{self, BLOCK, Block, MAX_LANES, PADDING, Room},
    kernel::Lanes,
};

/// Computes the digest of each of `count` messages, and passes it on with the message's place.
pub(crate) fn digests<'m, L: Lanes, const PARTS: usize>(
    lanes: L,
    function: Function,
    count: usize,
    parts: impl Fn(usize) -> [&'m [u8]; PARTS],
    mut each: impl FnMut(usize, &[u8]),
) {
    let len_of = |place: usize| parts(place).iter().map(|part| part.len()).sum::<usize>();
    let blocks_of = |place: usize| block::blocks(len_of(place));
    // Neighbours are as long as each other, the longest first, unless all are.
    let mut order = Vec::new();
    let mut rooms = [Room::EMPTY; MAX_LANES];
    for start in (0..count).step_by(L::LANES) {
        let mut places: [usize; MAX_LANES] = std::array::from_fn(|lane| start + lane);
        let here = L::LANES.min(count - start);
        let mut group = Group::new(&places[..here], &parts);
        if order.is_empty() && !group.is_even() && count - start > L::LANES {
            // Those before were even, each by itself.
            order.extend(0..count);
            order[start..].sort_by_key(|&place| Reverse(blocks_of(place)));
        }
        if !order.is_empty() {
            places[..here].copy_from_slice(&order[start..][..here]);
            group = Group::new(&places[..here], &parts);
        }
        pass(lanes, function, &places[..here], &group, &mut rooms, &mut each);
    }
}

/// Computes the digest of eight zero bytes, and of the two parts, of each of `count` messages.
pub(crate) fn salted<'m, L: Lanes>(
    lanes: L,
    function: Function,
    count: usize,
    parts: impl Fn(usize) -> [&'m [u8; 32]; 2],
    mut each: impl FnMut(usize, &[u8]),
) {
    let mut done = 0;
    let mut of_all = [[0; 32]; MAX_LANES];
    while count - done >= L::LANES {
        let (mut first, mut second) = ([&[0; 32]; MAX_LANES], [&[0; 32]; MAX_LANES]);
        for (lane, (first, second)) in first.iter_mut().zip(&mut second).enumerate().take(L::LANES) {
            [*first, *second] = parts(done + lane);
        }
        if !lanes.salted(&function.initial(), &first, &second, &mut of_all) {
            break;
        }
        for digest in &of_all[..L::LANES] {
            each(done, &digest[..function.digest_len()]);
            done += 1;
        }
    }
    let rest = |place: usize| {
        let [first, second] = parts(done + place);
        [&[0; 8], &first[..], &second[..]]
    };
    digests(lanes, function, count - done, rest, |place, digest| {
        each(done + place, digest)
    });
}

/// Bytes of the longest message that is written as a whole.
const SHORT: usize = 2 * BLOCK - PADDING;

/// Messages of which each gets a lane.
struct Group<'m, const PARTS: usize> {
    messages: [[&'m [u8]; PARTS]; MAX_LANES],
    /// Bytes of each.
    lens: [usize; MAX_LANES],
    /// Blocks of each.
    blocks: [usize; MAX_LANES],
    /// Blocks of the shortest.
    least: usize,
    /// Bytes of the longest.
    most: usize,
}

impl<'m, const PARTS: usize> Group<'m, PARTS> {
    #[inline(always)]
    fn new(places: &[usize], parts: &impl Fn(usize) -> [&'m [u8]; PARTS]) -> Self {
        let mut group = Group {
            messages: [[&[][..]; PARTS]; MAX_LANES],
            lens: [0; MAX_LANES],
            blocks: [0; MAX_LANES],
            least: usize::MAX,
            most: 0,
        };
        for (lane, &place) in places.iter().enumerate() {
            let parts = parts(place);
            group.messages[lane] = parts;
            group.lens[lane] = parts.iter().map(|part| part.len()).sum();
            group.blocks[lane] = block::blocks(group.lens[lane]);
            group.least = group.least.min(group.blocks[lane]);
            group.most = group.most.max(group.lens[lane]);
        }
        group
    }

    /// `true` if all have equally many blocks.
    fn is_even(&self) -> bool {
        self.least == block::blocks(self.most)
    }
}

/// Computes the digests of messages, of which each gets a lane.
fn pass<'m, L: Lanes, const PARTS: usize>(
    lanes: L,
    function: Function,
    places: &[usize],
    group: &Group<'m, PARTS>,
    rooms: &mut [Room; MAX_LANES],
    each: &mut impl FnMut(usize, &[u8]),
) {
    let Group {
        messages,
        lens,
        blocks: blocks_of,
        least,
        most,
    } = group;
    let (least, most) = (*least, *most);
    let mut state = lanes.begin(&function.initial());
    let mut digests = [[0; 32]; MAX_LANES];
    let is_short = most <= SHORT && places.len() >= lanes.least();
    if is_short && group.is_even() {
        // The usual case: as many blocks in every lane.
        for ((room, parts), &len) in rooms.iter_mut().zip(messages).zip(&lens[..places.len()]) {
            room.write_short(parts, len);
        }
        for number in 0..least {
            lanes.compress(&mut state, &std::array::from_fn(|lane| rooms[lane].block(number)));
        }
        lanes.digests(&state, &mut digests);
        for (&place, digest) in places.iter().zip(&digests) {
            each(place, &digest[..function.digest_len()]);
        }
        return;
    }
    if is_short {
        for ((room, parts), &len) in rooms.iter_mut().zip(messages).zip(&lens[..places.len()]) {
            room.write_short(parts, len);
        }
    }
    // Lanes whose message goes on: all that have not been passed on.
    let (mut number, mut going) = (0, places.len());
    while going >= lanes.least() {
        if !is_short {
            for (lane, room) in rooms[..places.len()].iter_mut().enumerate() {
                if number < blocks_of[lane] && in_place(&messages[lane], number).is_none() {
                    room.write(&messages[lane], lens[lane], number);
                }
            }
        }
        let blocks = std::array::from_fn(|lane| match is_short {
            true => rooms[lane].block(number),
            false => in_place(&messages[lane], number).unwrap_or(rooms[lane].block(0)),
        });
        lanes.compress(&mut state, &blocks);
        number += 1;
        if number < least {
            continue;
        }
        lanes.digests(&state, &mut digests);
        for (lane, &place) in places.iter().enumerate() {
            if blocks_of[lane] == number {
                each(place, &digests[lane][..function.digest_len()]);
                going -= 1;
            }
        }
    }
    if going == 0 {
        return;
    }
    for (lane, &place) in places.iter().enumerate() {
        if number < blocks_of[lane] {
            let mut state = L::words(&state, lane);
            alone::compress(&mut state, &messages[lane], lens[lane], number);
            each(place, &alone::bytes(&state)[..function.digest_len()]);
        }
    }
}

/// Block `number` of a message where it lies, if it is one part and has it.
fn in_place<'m>(parts: &[&'m [u8]], number: usize) -> Option<&'m Block> {
    match parts {
        [message] => message.get(number * BLOCK..)?.first_chunk(),
        _ => None,
    }
}
