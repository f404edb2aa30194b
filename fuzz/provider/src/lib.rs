//! Fuzz targets for the OpenSSL provider: arrays of parameters as a program may pass them, of any names, types, sizes
//! and values, some twice, and the data of operations; through the tables of functions that OpenSSL calls.
//!
//! There is no OpenSSL here: `core` is what loads the provider. Pointers are good, as OpenSSL's own functions see to
//! that; arrays end as they must, and the data of a parameter has as many bytes as it says. A target checks that a
//! function returns 0 or 1, that one which fails reports why, and not a panic, and that nothing is written behind a
//! parameter's data or behind the room for a result.
//!
//! | question | file |
//! |---|---|
//! | who loads the provider, and hears of failures | `core` |
//! | tables of functions, and their types | `functions` |
//! | arrays of parameters | `params` |
//! | keys that operations are done with, as parameters | `material` |
//! | keys: imported, exported, asked, generated | `keys` |
//! | signature contexts | `signatures` |
//! | encryption contexts | `encryption` |
//! | openssl.cnf's values, and the provider's own parameters | `settings` |

mod core;
mod encryption;
mod functions;
mod keys;
mod material;
mod params;
mod settings;
mod signatures;

use rsalab_fuzz::Target;

/// Every target of this crate.
pub static TARGETS: &[Target] = &[
    Target {
        name: "provider-keys",
        run: keys::keys,
        seeds: keys::seeds,
    },
    Target {
        name: "provider-signatures",
        run: signatures::signatures,
        seeds: signatures::seeds,
    },
    Target {
        name: "provider-encryption",
        run: encryption::encryption,
        seeds: encryption::seeds,
    },
    Target {
        name: "provider-settings",
        run: settings::settings,
        seeds: settings::seeds,
    },
];
