//! A figure as pixels, for slides and for where SVG is not taken. Drawn from the SVG's text, so the two cannot differ.

use std::sync::{Arc, LazyLock};

use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{self, Options, Tree, fontdb::Database},
};

/// Pixels for each unit of the SVG.
const SCALE: f32 = 2.0;

/// One typeface in two weights, compiled into the program: machines without fonts draw the same bytes.
static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    Arc::new(fonts)
});

/// The picture of an SVG that [`svg`](super::svg()) made, at twice its size. The same text gives the same bytes.
pub fn png(svg: &str) -> Vec<u8> {
    let options = Options {
        fontdb: Arc::clone(&FONTS),
        font_family: "DejaVu Sans".to_owned(),
        ..Options::default()
    };
    // What is drawn comes from this program, and tests draw it: what fails here is a bug.
    let tree = Tree::from_str(svg, &options).expect("our own SVG is well formed");
    let size = scaled(tree.size());
    let mut pixels = Pixmap::new(size.0, size.1).expect("a picture has a size");
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().expect("memory takes all that is written to it")
}

fn scaled(size: usvg::Size) -> (u32, u32) {
    let scaled = |length: f32| (length * SCALE).ceil() as u32;
    (scaled(size.width()), scaled(size.height()))
}
