//! A figure as pixels, for slides and for where SVG is not taken. Drawn from the SVG's text, so the two cannot differ.

use std::sync::{Arc, LazyLock};

use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{self, Options, Tree, fontdb::Database},
};

/// Pixels for each unit of the SVG.
const SCALE: f32 = 2.0;

/// The most pixels of a picture, of four bytes each: one with thousands of rows is drawn smaller.
const MOST_PIXELS: f32 = (1 << 25) as f32;

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
    let scale = scale_of(tree.size());
    let scaled = |length: f32| (length * scale).ceil() as u32;
    let (width, height) = (scaled(tree.size().width()), scaled(tree.size().height()));
    let mut pixels = Pixmap::new(width, height).expect("a picture has a size, and no more pixels than it may");
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().expect("memory takes all that is written to it")
}

fn scale_of(size: usvg::Size) -> f32 {
    let fits = (MOST_PIXELS / size.width() / size.height()).sqrt();
    SCALE.min(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_of_any_height_is_drawn() {
        let size = |height: u32| {
            let bytes = png(&format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\" height=\"{height}\"/>"
            ));
            let pixels = Pixmap::decode_png(&bytes).expect("it is a picture");
            (pixels.width(), pixels.height())
        };
        assert_eq!(size(100), (1600, 200));
        let (width, height) = size(1_000_000);
        assert!(width > 100 && height > 100_000, "{width} × {height}");
    }
}
