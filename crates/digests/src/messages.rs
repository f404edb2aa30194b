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
    let blocks_of = |place| block::blocks(len_of(place));
    // Neighbours are as long as each other, the longest first, unless all are.
    let mut order = Vec::new();
    if count > L::LANES && (1..count).any(|place| blocks_of(place) != blocks_of(0)) {
        order.extend(0..count);
        order.sort_by_key(|&place| Reverse(blocks_of(place)));
    }
    let mut rooms = [Room::EMPTY; MAX_LANES];
    for start in (0..count).step_by(L::LANES) {
        let mut group = [0; MAX_LANES];
        let group = &mut group[..L::LANES.min(count - start)];
        for (place, number) in group.iter_mut().zip(start..) {
            *place = *order.get(number).unwrap_or(&number);
        }
        pass(lanes, function, group, &parts, &mut rooms, &mut each);
    }
}

/// Bytes of the longest message that is written as a whole.
const SHORT: usize = 2 * BLOCK - PADDING;

/// Computes the digests of messages, of which each gets a lane.
fn pass<'m, L: Lanes, const PARTS: usize>(
    lanes: L,
    function: Function,
    places: &[usize],
    parts: &impl Fn(usize) -> [&'m [u8]; PARTS],
    rooms: &mut [Room; MAX_LANES],
    each: &mut impl FnMut(usize, &[u8]),
) {
    let mut messages = [[&[][..]; PARTS]; MAX_LANES];
    let (mut lens, mut blocks_of) = ([0; MAX_LANES], [0; MAX_LANES]);
    let (mut least, mut most) = (usize::MAX, 0);
    for (lane, &place) in places.iter().enumerate() {
        messages[lane] = parts(place);
        lens[lane] = messages[lane].iter().map(|part| part.len()).sum();
        blocks_of[lane] = block::blocks(lens[lane]);
        (least, most) = (least.min(blocks_of[lane]), most.max(lens[lane]));
    }
    let mut state = lanes.begin(&function.initial());
    let mut digests = [[0; 32]; MAX_LANES];
    let is_short = most <= SHORT && places.len() >= lanes.least();
    if is_short && least == block::blocks(most) {
        // The usual case: as many blocks in every lane.
        for ((room, parts), &len) in rooms.iter_mut().zip(&messages).zip(&lens[..places.len()]) {
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
        for ((room, parts), &len) in rooms.iter_mut().zip(&messages).zip(&lens[..places.len()]) {
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
