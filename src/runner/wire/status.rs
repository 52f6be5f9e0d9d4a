//! Reads a status off the beginning of an HTTP/2 header block (RFC 7541), as far as that can be done
//! without the table of the connection.

/// How much of a block is looked at: more than any status takes.
pub(super) const ENOUGH: usize = 32;

/// The last index of the static table whose name is `:status`; the first is 8 (RFC 7541, appendix A).
const STATUS_NAMES: std::ops::RangeInclusive<u8> = 8..=14;

/// The status that a header block begins with, if it is spelled out.
///
/// The static table has no status below 200, so that an informational one is spelled out the first time
/// that a connection sees it. Later it may be told by its place in the table of the connection, and is
/// not known then.
pub(super) fn spelled_status(mut block: &[u8]) -> Option<u16> {
    // Changes of the table's size come first (section 6.3).
    while let [first, rest @ ..] = block
        && first >> 5 == 0b001
    {
        block = rest;
        if first & 0x1f == 0x1f {
            let more = block.iter().position(|byte| byte & 0x80 == 0)?;
            block = &block[more + 1..];
        }
    }
    let (&first, rest) = block.split_first()?;
    // A literal whose name is in the table: to be indexed, not to be indexed, or never (section 6.2).
    let name = match first {
        0x40..=0x7f => first & 0x3f,
        0x00..=0x1f => first & 0x0f,
        _ => return None,
    };
    if !STATUS_NAMES.contains(&name) {
        return None;
    }
    let (&length, rest) = rest.split_first()?;
    let text = rest.get(..usize::from(length & 0x7f))?;
    let digits = match length & 0x80 {
        0 => text.iter().map(|byte| byte.checked_sub(b'0')).collect(),
        _ => unpacked(text),
    };
    match digits?.as_slice() {
        &[hundreds @ 1..=9, tens @ 0..=9, ones @ 0..=9] => {
            Some(u16::from(hundreds) * 100 + u16::from(tens) * 10 + u16::from(ones))
        }
        _ => None,
    }
}

/// Digits in Huffman's code: 0, 1 and 2 are 00000, 00001 and 00010, and 3 to 9 are 011001 to 011111
/// (RFC 7541, appendix B). What is left of the last byte is filled up with ones.
fn unpacked(text: &[u8]) -> Option<Vec<u8>> {
    let mut bits = text
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |place| byte >> place & 1));
    let mut digits = Vec::new();
    while digits.len() < 3 {
        let mut code = 0;
        for _ in 0..5 {
            code = code << 1 | bits.next()?;
        }
        digits.push(match code {
            0..=2 => code,
            0b01100..=0b01111 => {
                let digit = (code << 1 | bits.next()?).checked_sub(0b01_0110)?;
                (3..=9).contains(&digit).then_some(digit)?
            }
            _ => return None,
        });
    }
    bits.all(|bit| bit == 1).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::spelled_status;

    #[test]
    fn a_status_that_is_spelled_out_is_read() {
        for (block, status) in [
            (&b"\x48\x03100\x40"[..], Some(100)),
            (b"\x08\x03103", Some(103)),
            (b"\x18\x03102", Some(102)),
            // In Huffman's code.
            (b"\x48\x82\x08\x01", Some(100)),
            (b"\x48\x82\x08\x03", Some(101)),
            (b"\x48\x82\x08\x05", Some(102)),
            (b"\x48\x82\x08\x19", Some(103)),
            (b"\x48\x82\x64\x02", Some(302)),
            // After changes of the table's size.
            (b"\x20\x48\x03100", Some(100)),
            (b"\x3f\xe1\x1f\x48\x03100", Some(100)),
            // By its place in a table, cut off, of another header, or no number.
            (b"\x88", None),
            (b"\xbe", None),
            (b"\x48\x0310", None),
            (b"\x48", None),
            (b"", None),
            (b"\x3f\xe1", None),
            (b"\x44\x03100", None),
            (b"\x48\x031x0", None),
            (b"\x48\x04 100", None),
            (b"\x48\x82\x08\x00", None),
            (b"\x48\x82\xff\xff", None),
        ] {
            assert_eq!(spelled_status(block), status, "{block:x?}");
        }
    }
}
