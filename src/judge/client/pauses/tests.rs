//! Tests of the numbers by which pauses are compared, at their very bounds.

use super::*;

fn row(millis: &[u64]) -> Vec<Duration> {
    let mut row: Vec<Duration> = millis.iter().copied().map(Duration::from_millis).collect();
    row.sort_unstable();
    row
}

/// So many pauses of one length, and so many of another.
fn two(number: usize, one: u64, more: usize, other: u64) -> Vec<Duration> {
    let one = std::iter::repeat_n(one, number);
    row(&one
        .chain(std::iter::repeat_n(other, more))
        .collect::<Vec<_>>())
}

fn ms(number: u64) -> Duration {
    Duration::from_millis(number)
}

#[test]
fn the_middle_of_an_even_row_lies_between_two() {
    assert_eq!(middle(&row(&[])), ms(0));
    assert_eq!(middle(&row(&[3, 1, 2])), ms(2));
    assert_eq!(middle(&row(&[1, 2, 4, 9])), ms(3));
}

#[test]
fn the_shortest_is_left_out_once_there_are_enough_and_a_tenth_of_many() {
    let counted = |number: u64| shortest(&row(&(1..=number).collect::<Vec<_>>()));
    assert_eq!(counted(5), ms(1));
    assert_eq!(counted(6), ms(2));
    assert_eq!(counted(19), ms(2));
    assert_eq!(counted(20), ms(3));
    assert_eq!(counted(0), ms(0));
}

#[test]
fn few_pauses_must_differ_twice_as_much_to_vary() {
    let of = |number: usize| bar(&two(number, 100, 0, 0), ms(0));
    assert_eq!(of(9), VARIES * 2);
    assert_eq!(of(10), VARIES);
    assert_eq!(bar(&two(10, 100, 0, 0), ms(30)), ms(30), "a late machine");
    assert_eq!(
        bar(&two(10, 1_000, 0, 0), ms(0)),
        ms(50),
        "a twentieth of them"
    );
}

#[test]
fn pauses_within_four_milliseconds_are_alike() {
    assert!((alike(&row(&[100, 104, 200, 300])) - 0.5).abs() < 1e-9);
    assert!((alike(&row(&[100, 105, 200, 300])) - 0.25).abs() < 1e-9);
    assert!((left_alone(&row(&[100, 104, 105, 200])) - 0.5).abs() < 1e-9);
}

#[test]
fn nearly_all_or_most_by_far_are_none() {
    assert!(are_none(&row(&[])));
    assert!(are_none(&two(9, 20, 1, 20)));
    assert!(are_none(&two(10, 20, 0, 0)));
    assert!(!are_none(&two(9, 20, 1, 21)), "one of ten is not left out");
    assert!(are_none(&two(10, 20, 1, 500)), "one of eleven is");
    assert!(are_none(&two(6, 10, 4, 500)));
    assert!(!are_none(&two(5, 10, 5, 500)));
    assert!(!are_none(&two(6, 11, 4, 500)));
}

#[test]
fn a_restless_machine_leaves_some_of_many_alone() {
    let steady = |number: usize, more: usize| is_steady(&two(number, 100, more, 200));
    assert!(steady(16, 0));
    assert!(!steady(15, 0), "they are not many");
    assert!(steady(8, 12));
    assert!(!steady(7, 13));
}
