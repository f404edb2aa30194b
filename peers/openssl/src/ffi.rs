//! The functions of libcrypto, named to the linker.

// All of both: the list names more of them with each function that it gets.
use std::ffi::*;

use rsalab_peer_evp::{Table, libcrypto_functions, table::*};

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
