//! The functions of libcrypto, named to the linker.

use std::ffi::{c_char, c_int, c_long, c_uchar, c_ulong, c_void};

use rsalab_peer_evp::{
    Table, libcrypto_functions,
    table::{Bignum, BignumCtx, EngineHandle, GenCallback, KeygenCallback, Pkey, PkeyCtx, PrimeCallback, Word},
};

macro_rules! link {
    (
        always { $(fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty;)* }
        since_3_0 { $(fn $new_name:ident($($new_arg:ident: $new_type:ty),*) -> $new_result:ty;)* }
    ) => {
        unsafe extern "C" {
            $(fn $name($($arg: $type),*) -> $result;)*
            $(fn $new_name($($new_arg: $new_type),*) -> $new_result;)*
        }

        /// The table of the libcrypto that is linked into this program.
        pub(crate) fn table() -> Table {
            Table { $($name,)* $($new_name: Some($new_name),)* }
        }
    };
}

libcrypto_functions!(link);
