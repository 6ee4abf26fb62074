//! Blocks against the chain: equal on a CPU, and parted by a fault at the position and row that it names.

use super::support::model;
use exactness::engine::cache::Rewind;
use exactness::engine::model::TextModel;
use exactness::engine::plant::Plant;
use exactness::engine::routes::Routes;
use exactness::probe::walk::{Blocks, Chain, Compared, Reach, Walk};
use exactness::results::probe::Place;

const LENGTH: usize = 10;
const TOKENS: usize = 12;

fn walk(plants: &[&str]) -> Walk {
    let plants = plants.iter().map(|text| text.parse::<Plant>().unwrap()).collect();
    Walk {
        length: LENGTH,
        seed: 5,
        tokens: TOKENS,
        prefill_chunk: 512,
        plain: Routes::default(),
        rewind: Rewind::KeepStates,
        plants,
    }
}

fn blocks(width: usize, routes: &str, reach: Reach) -> Blocks {
    Blocks { width, routes: routes.parse().unwrap(), reach }
}

fn found(model: &TextModel, plant: &str, width: usize) -> Compared {
    let chain = Chain::record(model, walk(&[plant])).unwrap();
    chain.against(&blocks(width, "", Reach::EveryRow)).unwrap()
}

#[test]
fn a_cpu_leaves_the_chain_at_every_width_and_rewind() {
    let model = model("tiny-random-qwen35");
    for rewind in [Rewind::KeepStates, Rewind::Replay] {
        let chain = Chain::record(&model, Walk { rewind, ..walk(&[]) }).unwrap();
        assert_eq!(chain.covered(), Some((10, 21)));
        assert!(chain.repeats().unwrap());
        for width in [1, 2, 3, 16] {
            let compared = chain.against(&blocks(width, "", Reach::EveryRow)).unwrap();
            assert_eq!(compared.first, None, "{width}");
            assert_eq!(
                compared.rows,
                ((width + 1) * TOKENS) as u64,
                "each position at every row, and in turn"
            );
            assert_eq!(compared.bytes, compared.rows * 512 * 4);
            assert!(compared.states > width as u64, "the end of every walk");
            let once = chain.against(&blocks(width, "", Reach::Once)).unwrap();
            assert_eq!((once.first, once.rows), (None, TOKENS as u64));
        }
    }
}

#[test]
fn one_row_at_one_position_is_not_stepped_over() {
    let model = model("tiny-random-qwen35");
    let mut tried = 0;
    for (row, from) in [(0, 10), (1, 13), (2, 21), (2, 12)] {
        let plant = format!("op=lm_head,row={row},from={from},every=100000");
        let first = found(&model, &plant, 3).first.unwrap();
        assert_eq!(first.position, from, "{plant}");
        assert!(
            matches!(first.place, Place::Row { row: at, differing, bytes: 2048 } if at == row && differing > 0),
            "{first:?}"
        );
        tried += 1;
    }
    assert_eq!(tried, 4);
    // Row 2 of a block is at position 12 at the earliest, and nothing lies past the walk.
    for plant in ["op=lm_head,row=2,from=11,every=100000", "op=lm_head,from=22", "op=lm_head,rows>=4"] {
        assert_eq!(found(&model, plant, 3).first, None, "{plant}");
    }
}

#[test]
fn a_state_that_no_row_shows_is_a_difference() {
    let model = model("tiny-random-qwen35");
    // The key that the last row writes is read by later rows, of which there are none, and by itself: the smallest
    // step of one number is rounded away there.
    let first = found(&model, "op=k_proj,layer=3,from=21,count=1,seed=3", 2).first.unwrap();
    assert_eq!(first.position, 21);
    assert_eq!(first.place, Place::State { part: "layer.3.keys".to_owned() }, "{first}");
}

#[test]
fn another_formula_is_found_and_a_fault_of_both_sides_is_none() {
    let model = model("tiny-random-qwen35");
    let chain = Chain::record(&model, walk(&[])).unwrap();
    assert!(chain.against(&blocks(4, "delta=chunked", Reach::Once)).unwrap().first.is_some());
    assert!(chain.against(&blocks(4, "layer.9.o_proj=rows", Reach::Once)).is_err());
    assert_eq!(found(&model, "op=o_proj,ulp=8,side=both", 3).first, None);
    assert!(found(&model, "op=o_proj,ulp=8,side=chain", 3).first.is_some());
}
