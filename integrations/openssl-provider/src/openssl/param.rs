//! Arrays of `OSSL_PARAM`: what the caller says, and what it asks for.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    marker::PhantomData,
    ptr, slice,
};

use zeroize::Zeroizing;

use super::types::{Param, octets};
use crate::failure::Result;

pub(crate) const INTEGER: u32 = 1;
pub(crate) const UNSIGNED: u32 = 2;
pub(crate) const UTF8: u32 = 4;
pub(crate) const OCTETS: u32 = 5;
pub(crate) const UTF8_PTR: u32 = 6;
pub(crate) const OCTETS_PTR: u32 = 7;

/// A parameter's description, for the tables of what is taken and given.
pub(crate) const fn describe(key: &'static CStr, data_type: u32) -> Param {
    Param {
        key: key.as_ptr(),
        data_type,
        data: ptr::null_mut(),
        data_size: 0,
        return_size: usize::MAX,
    }
}

/// The end of an array.
pub(crate) const END: Param = Param {
    key: ptr::null(),
    data_type: 0,
    data: ptr::null_mut(),
    data_size: 0,
    return_size: 0,
};

/// An array of parameters, which a null key ends.
#[derive(Clone, Copy)]
pub(crate) struct Params<'a> {
    first: *mut Param,
    lives: PhantomData<&'a Param>,
}

/// One that was found in an array.
pub(crate) struct Found<'a> {
    param: *mut Param,
    lives: PhantomData<&'a Param>,
}

impl<'a> Params<'a> {
    /// # Safety
    ///
    /// `first` is null or points to an array that a null key ends, whose data are valid during `'a` and used by nobody
    /// else meanwhile.
    pub(crate) unsafe fn new(first: *const Param) -> Params<'a> {
        Params {
            first: first.cast_mut(),
            lives: PhantomData,
        }
    }

    /// `true` if there is no array.
    pub(crate) fn is_absent(&self) -> bool {
        self.first.is_null()
    }

    /// The parameter of that name.
    pub(crate) fn find(&self, key: &str) -> Option<Found<'a>> {
        let mut param = self.first;
        if param.is_null() {
            return None;
        }
        loop {
            // SAFETY: `new`'s promise: a null key ends the array, and we have met none.
            let name = unsafe { (*param).key };
            if name.is_null() {
                return None;
            }
            // SAFETY: keys are strings of C.
            if unsafe { CStr::from_ptr(name) }.to_bytes() == key.as_bytes() {
                let lives = PhantomData;
                return Some(Found { param, lives });
            }
            // SAFETY: the array goes on until a null key.
            param = unsafe { param.add(1) };
        }
    }
}

impl<'a> Found<'a> {
    fn get(&self) -> &Param {
        // SAFETY: it lies in the array of `Params::new`.
        unsafe { &*self.param }
    }

    fn data(&self) -> &'a [u8] {
        let param = self.get();
        // SAFETY: `data` holds `data_size` bytes, by `OSSL_PARAM`'s definition.
        unsafe { octets(param.data.cast(), param.data_size) }
    }

    /// Bytes of it.
    pub(crate) fn len(&self) -> usize {
        self.get().data_size
    }

    fn is_number(&self) -> bool {
        matches!(self.get().data_type, INTEGER | UNSIGNED)
    }

    /// `true` if it is a string, and no number.
    pub(crate) fn is_text(&self) -> bool {
        !self.is_number()
    }

    /// A string.
    pub(crate) fn string(&self) -> Option<&'a str> {
        let bytes = match self.get().data_type {
            UTF8 => self.data(),
            UTF8_PTR => {
                let data = self.get().data.cast::<*const c_char>();
                // SAFETY: `data` points to a pointer, by the type's definition.
                let text = unsafe { data.as_ref() }?;
                if text.is_null() {
                    return None;
                }
                // SAFETY: which is a string of C.
                unsafe { CStr::from_ptr(*text) }.to_bytes()
            }
            _ => return None,
        };
        let end = bytes.iter().position(|byte| *byte == 0);
        std::str::from_utf8(&bytes[..end.unwrap_or(bytes.len())]).ok()
    }

    /// Bytes.
    pub(crate) fn octets(&self) -> Option<&'a [u8]> {
        (self.get().data_type == OCTETS).then(|| self.data())
    }

    /// A number of at most 64 bits.
    pub(crate) fn number(&self) -> Option<i64> {
        if !self.is_number() {
            return None;
        }
        let mut little = self.data().to_vec();
        if cfg!(target_endian = "big") {
            little.reverse();
        }
        // The sign goes on in every byte beyond.
        let is_negative = self.get().data_type == INTEGER && little.last().is_some_and(|top| *top > 127);
        let beyond = if is_negative { 0xff } else { 0 };
        while little.len() > 8 && little.last() == Some(&beyond) {
            little.pop();
        }
        if little.len() > 8 {
            return None;
        }
        little.resize(8, beyond);
        let number = i64::from_le_bytes(little.try_into().ok()?);
        ((number < 0) == is_negative).then_some(number)
    }

    /// An unsigned integer of any length, big-endian, without leading zeros.
    pub(crate) fn integer(&self) -> Option<Vec<u8>> {
        if self.get().data_type != UNSIGNED {
            return None;
        }
        let mut bytes = self.data().to_vec();
        if cfg!(target_endian = "little") {
            bytes.reverse();
        }
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        bytes.drain(..zeros);
        Some(bytes)
    }

    /// Answers with a number.
    pub(crate) fn set_number(self, number: usize) -> Result<()> {
        let mut big = number.to_be_bytes().to_vec();
        let zeros = big.iter().take_while(|byte| **byte == 0).count();
        big.drain(..zeros);
        self.set_integer(&big)
    }

    /// Answers with a number that may be negative.
    pub(crate) fn set_signed(self, number: i64) -> Result<()> {
        if self.get().data_type != INTEGER {
            return Err("the parameter takes no negative number".into());
        }
        // As few bytes as hold it and its sign.
        let bits = 65 - (if number < 0 { !number } else { number }).leading_zeros() as usize;
        let needed = bits.div_ceil(8).max(size_of::<c_int>());
        if self.get().data.is_null() {
            return self.returned(needed);
        }
        let room = self.get().data_size;
        if room < bits.div_ceil(8) {
            let _ = self.returned(needed);
            return Err("the parameter has no room for the number".into());
        }
        let sign = if number < 0 { 0xff } else { 0 };
        let mut bytes = vec![sign; room];
        let known = room.min(8);
        bytes[..known].copy_from_slice(&number.to_le_bytes()[..known]);
        if cfg!(target_endian = "big") {
            bytes.reverse();
        }
        self.copy(&bytes, room)
    }

    /// Answers with an unsigned integer, big-endian.
    pub(crate) fn set_integer(self, big: &[u8]) -> Result<()> {
        if !self.is_number() {
            return Err("the parameter is no integer".into());
        }
        let zeros = big.iter().take_while(|byte| **byte == 0).count();
        let number = &big[zeros..];
        let room = self.get().data_size;
        // A signed integer keeps its topmost bit clear.
        let sign = usize::from(self.get().data_type == INTEGER && number.first().is_some_and(|top| *top > 127));
        let needed = (number.len() + sign).max(1);
        if self.get().data.is_null() {
            return self.returned(needed);
        }
        if room < needed {
            let _ = self.returned(needed);
            return Err("the parameter has no room for the integer".into());
        }
        // It may be a private one.
        let mut bytes = Zeroizing::new(vec![0; room]);
        bytes[..number.len()].copy_from_slice(number);
        bytes[..number.len()].reverse();
        if cfg!(target_endian = "big") {
            bytes.reverse();
        }
        self.copy(&bytes, room)
    }

    /// Answers with a string.
    pub(crate) fn set_string(self, text: &str) -> Result<()> {
        if self.get().data_type != UTF8 {
            return Err("the parameter is no string".into());
        }
        self.set_bytes(text.as_bytes())?;
        Ok(())
    }

    /// Answers with a string that never goes away.
    pub(crate) fn set_static(self, text: &'static CStr) -> Result<()> {
        if self.get().data_type != UTF8_PTR {
            return self.set_string(&text.to_string_lossy());
        }
        let data = self.get().data.cast::<*const c_char>();
        if !data.is_null() {
            // SAFETY: `data` points to a pointer, by the type's definition.
            unsafe { *data = text.as_ptr() };
        }
        self.returned(text.count_bytes())
    }

    /// Answers with bytes.
    pub(crate) fn set_octets(self, bytes: &[u8]) -> Result<()> {
        if self.get().data_type != OCTETS {
            return Err("the parameter is no octet string".into());
        }
        self.set_bytes(bytes)
    }

    /// Answers with bytes, or with their place, as it is asked for; they stay there as long as what was asked lives
    /// unchanged.
    pub(crate) fn set_octets_or_place(self, bytes: &[u8]) -> Result<()> {
        if self.get().data_type != OCTETS_PTR {
            return self.set_octets(bytes);
        }
        let data = self.get().data.cast::<*const c_void>();
        if !data.is_null() {
            let place = match bytes.is_empty() {
                true => ptr::null(),
                false => bytes.as_ptr().cast(),
            };
            // SAFETY: `data` points to a pointer, by the type's definition.
            unsafe { *data = place };
        }
        self.returned(bytes.len())
    }

    fn set_bytes(self, bytes: &[u8]) -> Result<()> {
        if self.get().data.is_null() {
            return self.returned(bytes.len());
        }
        let room = self.get().data_size;
        if room < bytes.len() {
            let _ = self.returned(bytes.len());
            return Err("the parameter has no room for the value".into());
        }
        let is_text = self.get().data_type == UTF8;
        let mut ended = bytes.to_vec();
        if is_text && room > bytes.len() {
            ended.push(0);
        }
        self.copy(&ended, bytes.len())
    }

    /// `bytes` are not longer than the room.
    fn copy(self, bytes: &[u8], len: usize) -> Result<()> {
        assert!(bytes.len() <= self.get().data_size && !self.get().data.is_null());
        let data = self.get().data.cast::<u8>();
        // SAFETY: `data` has room for `data_size` bytes, and who asks lets us write there.
        unsafe { slice::from_raw_parts_mut(data, bytes.len()) }.copy_from_slice(bytes);
        self.returned(len)
    }

    fn returned(&self, len: usize) -> Result<()> {
        // SAFETY: it lies in the array of `Params::new`, and who asks lets us write there.
        unsafe { (*self.param).return_size = len };
        Ok(())
    }
}

/// A number to hand to OpenSSL: named, unsigned, and in native order in memory that outlives the array.
pub(crate) fn unsigned(key: &'static CStr, native: &mut [u8]) -> Param {
    Param {
        key: key.as_ptr(),
        data_type: UNSIGNED,
        data: native.as_mut_ptr().cast::<c_void>(),
        data_size: native.len(),
        return_size: usize::MAX,
    }
}

/// As [`unsigned`], for a number that OpenSSL calls signed.
pub(crate) fn signed(key: &'static CStr, native: &mut [u8]) -> Param {
    Param {
        data_type: INTEGER,
        ..unsigned(key, native)
    }
}

/// A string to hand to OpenSSL, which outlives the array; who gets it reads it only.
pub(crate) fn text(key: &'static CStr, text: &CStr) -> Param {
    Param {
        key: key.as_ptr(),
        data_type: UTF8,
        data: text.as_ptr().cast_mut().cast(),
        data_size: text.count_bytes(),
        return_size: usize::MAX,
    }
}
