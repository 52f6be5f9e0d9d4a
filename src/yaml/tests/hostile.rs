use std::time::{Duration, Instant};

use super::super::{Diagnostic, parse};
use super::source;

/// Far more than any refusal takes in a debug build on a busy machine, far less than a hang.
const SOON: Duration = Duration::from_secs(10);

fn refused_soon(text: &str) -> Diagnostic {
    let source = source(text);
    let start = Instant::now();
    let diagnostic = parse(source).expect_err("hostile text is refused");
    let shown = diagnostic.render(false);
    assert!(start.elapsed() < SOON, "took {:?}", start.elapsed());
    assert!(shown.len() < 5_000, "{} bytes are no message", shown.len());
    assert!(diagnostic.help.is_some());
    diagnostic
}

#[test]
fn deep_nesting_fails_fast_and_in_one_way() {
    let deep = format!("a: {}{}", "[".repeat(200), "]".repeat(200));
    let block: String = (0..100)
        .map(|depth| format!("{}a:\n", " ".repeat(depth)))
        .collect();
    for text in [
        "[".repeat(200_000),
        "{a: ".repeat(50_000),
        "- ".repeat(100_000),
        deep,
        block,
    ] {
        let diagnostic = refused_soon(&text);
        assert_eq!(diagnostic.message, "nested deeper than 48 levels");
        assert_eq!(
            diagnostic.span.as_ref().map(|span| span.source.text.len()),
            Some(text.len())
        );
    }
}

#[test]
fn as_deep_as_the_limit_is_fine() {
    let fine = format!("{}{}", "[".repeat(48), "]".repeat(48));
    parse(source(&fine)).unwrap();
    refused_soon(&format!("[{fine}]"));
}

#[test]
fn aliases_cannot_nest_deeper_than_the_limit() {
    let mut text = "a0: &a0 [x]\n".to_owned();
    for level in 1..60 {
        text += &format!("a{level}: &a{level} [*a{}]\n", level - 1);
    }
    assert_eq!(refused_soon(&text).message, "nested deeper than 48 levels");
}

#[test]
fn alias_bombs_fail_fast_with_both_places() {
    let mut text = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (name, previous) in "bcdefghi".chars().zip("abcdefgh".chars()) {
        let aliases = vec![format!("*{previous}"); 9].join(", ");
        text += &format!("{name}: &{name} [{aliases}]\n");
    }
    let diagnostic = refused_soon(&text);
    assert!(
        diagnostic
            .message
            .starts_with("the file is too large once its aliases are expanded")
    );
    assert_eq!(diagnostic.related.len(), 1);
}

#[test]
fn aliases_cannot_multiply_long_texts() {
    let text = format!(
        "a: &a {}\nb: [{}]\n",
        "x".repeat(1_000_000),
        "*a, ".repeat(400)
    );
    refused_soon(&text);
}

#[test]
fn too_many_aliases_or_values_are_refused() {
    refused_soon(&format!("a: &a x\nb: [{}]\n", "*a, ".repeat(501)));
    refused_soon(&"- a\n".repeat(60_000));
}

#[test]
fn nested_anchors_cannot_multiply_what_they_keep() {
    let open: String = (0..40).map(|level| format!("&a{level} [")).collect();
    refused_soon(&format!("{open}{}{}", "x, ".repeat(20_000), "]".repeat(40)));
}

#[test]
fn a_large_honest_file_is_read() {
    let text: String = (0..10_000).map(|n| format!("key{n}: [1, two]\n")).collect();
    assert_eq!(
        parse(source(&text)).unwrap().as_map().unwrap().len(),
        10_000
    );
}

/// Every byte of two samples is replaced, removed and doubled; whatever comes out, parsing and
/// rendering return.
#[test]
fn no_mutation_of_a_file_makes_parsing_panic() {
    let block = "t: 'q''r' # c\nl:\n  - &a {b: 1, c: [\"x\\n\", $.y]}\n  - <<: *a\n    \
                 w: |-\n      é\r\n\nf: >\n z\n? k\n: !!str 5\n";
    let flow =
        "a: { ids: $.dätä(0).id, q: 'x\\', \"k\\\"\": $(c) }\nb: [x, {y: z,}, # ü\n  é: w]\n";
    for sample in [block, flow] {
        let read = mutations(sample.as_bytes())
            .filter(|mutation| survives(mutation))
            .count();
        assert!(read > 100, "some mutations must still be YAML: {read}");
    }
}

fn mutations(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let replacements = b"\0\t\n\r \"#&'*,-:<>?@[]{}|!%`~\\0x\x1b\xc3\xff";
    (0..bytes.len()).flat_map(move |position| {
        let (before, after) = (&bytes[..position], &bytes[position + 1..]);
        let with = replacements.iter().flat_map(move |&new| {
            [
                [before, &[new], after].concat(),
                [before, &[new, bytes[position]], after].concat(),
            ]
        });
        with.chain([[before, after].concat(), before.to_vec()])
    })
}

fn survives(bytes: &[u8]) -> bool {
    let source = source(&String::from_utf8_lossy(bytes));
    match parse(source) {
        Ok(node) => {
            node.walk(&mut |pointer, node| {
                assert!(
                    node.span
                        .source
                        .text
                        .get(node.span.start..node.span.end)
                        .is_some(),
                    "{pointer}"
                );
            });
            true
        }
        Err(diagnostic) => {
            let shown = diagnostic.render(false);
            assert!(!shown.contains(['\x1b', '\r', '\0']), "{shown:?}");
            assert!(
                diagnostic.span.is_some() && diagnostic.help.is_some(),
                "{shown}"
            );
            false
        }
    }
}
