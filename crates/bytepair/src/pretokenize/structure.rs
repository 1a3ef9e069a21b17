//! Recognises a pattern by what it means, in whatever spelling it is written.
//!
//! In: regular expressions, as the general engine's own parser reads them. Out: the [`Family`] whose
//! pieces are the same on every text, or `None`, after which the general engine does the work. An
//! expression is brought to a *normal form*, in which sets of characters are sets, whatever their
//! notation, and two forms that are equal match alike. Each step below is a proof of its own, and
//! what no step covers (lazy repetition, look-behind, references, nested repetition) has no form.
//! Costs some microseconds for an unknown pattern, once.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use fancy_regex::{Assertion, Expr, LookAround};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::family::{FAMILIES, Family, First};
use super::{NAMED, Pattern};

/// Bytes of an expression that is looked at. Those in use have a few hundred.
const BYTES: usize = 2_000;
/// Alternatives of an expression, written out.
const ROWS: usize = 64;
/// Strings that a group of literals may stand for.
const STRINGS: usize = 128;
/// The most digits of a number, beyond which only "any number of them" is taken.
const DIGITS: usize = 6;

/// A step of an alternative.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    /// One character of a set.
    Set(ClassUnicode),
    /// One of some strings, of which none begins another, so that their order does not matter.
    Strings(BTreeSet<String>),
    /// A set or strings, as often as possible.
    Repeat { node: Box<Node>, least: usize, most: usize, possessive: bool },
    /// The end of the text.
    End,
    /// What follows is no character of a set.
    Not(ClassUnicode),
}

/// An alternative: its steps in order.
type Row = Vec<Node>;

/// The normal form of an expression: its alternatives in order.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Form(Vec<Row>);

/// The family that cuts every text as `pattern` does, if that can be shown.
pub(super) fn family(pattern: &Pattern) -> Option<Family> {
    let texts: &[String] = match pattern {
        Pattern::None => return None,
        Pattern::Regex(text) => std::slice::from_ref(text),
        Pattern::Sequence(texts) => texts,
    };
    if texts.len() > 3 {
        return None;
    }
    let forms: Vec<Form> = texts.iter().map(|text| Form::of(text)).collect::<Option<_>>()?;
    let known = known();
    if let Some((_, family)) = known.iter().find(|(known, _)| *known == forms) {
        return Some(*family);
    }
    // Numbers of another length than those of a family that is otherwise the same.
    let [form] = &forms[..] else { return None };
    let (form, digits) = form.without_digits()?;
    let same = known.iter().find(|(known, family)| {
        let alone = family.first == First::Nothing && family.number_lead == 0;
        let known = known.first().filter(|_| alone).and_then(Form::without_digits);
        known.is_some_and(|(known, _)| known == form)
    });
    let (_, family) = same?;
    (digits <= DIGITS || digits == usize::MAX).then_some(Family { most_digits: digits, ..*family })
}

/// The forms of all named patterns.
fn known() -> &'static [(Vec<Form>, Family)] {
    static KNOWN: OnceLock<Vec<(Vec<Form>, Family)>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let forms = |name: &str| -> Option<Vec<Form>> {
            let named = NAMED.iter().find(|named| named.name == name)?;
            named.regexes.iter().map(|regex| Form::of(regex)).collect()
        };
        let families = FAMILIES.iter();
        families.filter_map(|&(name, family)| Some((forms(name)?, family))).collect()
    })
}

impl Form {
    fn of(text: &str) -> Option<Self> {
        // Flags but `i` change what the parts of the tree mean without being in them.
        let plain = |rest: &str| ["i:", "i)", ":", "!", ">"].iter().any(|s| rest.starts_with(s));
        if text.len() > BYTES || !text.split("(?").skip(1).all(plain) {
            return None;
        }
        let rows = rows(&Expr::parse_tree(text).ok()?.expr)?;
        let mut rows: Vec<Row> = rows.into_iter().map(settle_row).collect();
        join_strings(&mut rows);
        settle_spaces(&mut rows);
        Some(Self(rows))
    }

    /// The form with numbers of any length instead, and how many digits a number has at most;
    /// `None` unless one alternative is just `\p{N}{1,most}`.
    fn without_digits(&self) -> Option<(Self, usize)> {
        let numbers = set(r"\p{N}", false)?;
        let most = |row: &Row| match &row[..] {
            [Node::Set(set)] if *set == numbers => Some(1),
            [Node::Repeat { node, least: 1, most, possessive: false }]
                if **node == Node::Set(numbers.clone()) =>
            {
                Some(*most)
            }
            _ => None,
        };
        let mut found = self.0.iter().enumerate().filter_map(|(at, row)| Some((at, most(row)?)));
        let (at, digits) = found.next()?;
        if found.next().is_some() {
            return None;
        }
        let mut form = self.clone();
        form.0[at] = vec![repeat(Node::Set(numbers), 1, usize::MAX)];
        Some((form, digits))
    }
}

fn repeat(node: Node, least: usize, most: usize) -> Node {
    Node::Repeat { node: Box::new(node), least, most, possessive: false }
}

/// The set that a class stands for, such as `[^\s\p{L}]`; `None` if it is not one character.
fn set(class: &str, any_case: bool) -> Option<ClassUnicode> {
    let mut parser = ParserBuilder::new().case_insensitive(any_case).build();
    match parser.parse(class).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(set)) => Some(set),
        HirKind::Class(Class::Bytes(set)) => {
            let ranges = set.ranges().iter().map(|range| {
                ClassUnicodeRange::new(char::from(range.start()), char::from(range.end()))
            });
            set.is_ascii().then(|| ClassUnicode::new(ranges))
        }
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            let mut signs = text.chars();
            let sign = signs.next()?;
            signs.next().is_none().then(|| ClassUnicode::new([ClassUnicodeRange::new(sign, sign)]))
        }
        _ => None,
    }
}

/// The alternatives of an expression, written out in the order in which they are tried.
fn rows(expr: &Expr) -> Option<Vec<Row>> {
    match expr {
        Expr::Empty => Some(vec![Vec::new()]),
        Expr::Literal { val, casei } => {
            let sign =
                |sign: char| set(&regex_syntax::escape(sign.encode_utf8(&mut [0; 4])), *casei);
            Some(vec![val.chars().map(|c| sign(c).map(Node::Set)).collect::<Option<Row>>()?])
        }
        Expr::Delegate { inner, casei } => Some(vec![vec![Node::Set(set(inner, *casei)?)]]),
        Expr::Assertion(Assertion::EndText) => Some(vec![vec![Node::End]]),
        // What a group captured nobody asks for: a reference to it has no form.
        Expr::Group(inner) => rows(inner),
        Expr::Alt(inner) => {
            let mut all = Vec::new();
            for expr in inner {
                all.extend(rows(expr)?);
            }
            Some(one_node(&all).map_or(all, |node| vec![vec![node]]))
        }
        Expr::Concat(inner) => concat(inner),
        Expr::Repeat { child, lo, hi, greedy } if *greedy || lo == hi => {
            let node = one_node(&rows(child)?)?;
            let plain = match node {
                Node::Set(_) => true,
                // Repeated oftener there could be several ways through them.
                Node::Strings(_) => *hi <= 1,
                _ => false,
            };
            match (lo, hi) {
                (1, 1) => Some(vec![vec![node]]),
                _ => (plain && *hi > 0).then(|| vec![vec![repeat(node, *lo, *hi)]]),
            }
        }
        Expr::AtomicGroup(inner) => match one_node(&rows(inner)?)? {
            Node::Repeat { node, least, most, .. } => {
                Some(vec![vec![Node::Repeat { node, least, most, possessive: true }]])
            }
            // There is one way to match it, if any.
            node => Some(vec![vec![node]]),
        },
        Expr::LookAround(inner, LookAround::LookAheadNeg) => match one_node(&rows(inner)?)? {
            Node::Set(set) if negated(&set).ranges().is_empty() => Some(vec![vec![Node::End]]),
            Node::Set(set) => Some(vec![vec![Node::Not(set)]]),
            _ => None,
        },
        _ => None,
    }
}

/// Steps one after the other. `AB|AC` is `A(B|C)` only where there is one way to match `A`: else all
/// ways of `A` with `B` are tried before the first with `C`.
fn concat(inner: &[Expr]) -> Option<Vec<Row>> {
    let mut all = vec![Vec::new()];
    for expr in inner {
        let next = rows(expr)?;
        let one_way =
            all.iter().flatten().all(|node| matches!(node, Node::Set(_) | Node::Strings(_)));
        if (next.len() > 1 && !one_way) || all.len() * next.len() > ROWS {
            return None;
        }
        let join =
            |row: &Row| next.iter().map(|next| [&row[..], next].concat()).collect::<Vec<_>>();
        all = all.iter().flat_map(join).collect();
    }
    Some(all)
}

/// Alternatives as one step: a set, or strings of which none begins another.
fn one_node(rows: &[Row]) -> Option<Node> {
    if let [row] = rows
        && let [node] = &row[..]
    {
        return Some(node.clone());
    }
    let one_set = |row: &Row| match &row[..] {
        [Node::Set(set)] => Some(set.clone()),
        _ => None,
    };
    if let Some(sets) = rows.iter().map(one_set).collect::<Option<Vec<_>>>() {
        let mut sets = sets.into_iter();
        let mut union = sets.next()?;
        sets.for_each(|set| union.union(&set));
        return Some(Node::Set(union));
    }
    let mut all = BTreeSet::new();
    for row in rows {
        all.extend(strings(row)?);
    }
    free(&all).then_some(Node::Strings(all))
}

/// What a row of sets and strings can match, if that is little.
fn strings(row: &Row) -> Option<BTreeSet<String>> {
    let mut all = BTreeSet::from([String::new()]);
    for node in row {
        let next: BTreeSet<String> = match node {
            Node::Set(set) => {
                let size: usize = set.ranges().iter().map(ClassUnicodeRange::len).sum();
                if size > STRINGS {
                    return None;
                }
                let signs = set.ranges().iter().flat_map(|range| range.start()..=range.end());
                signs.map(String::from).collect()
            }
            Node::Strings(strings) => strings.clone(),
            Node::Repeat { .. } | Node::End | Node::Not(_) => return None,
        };
        if all.len() * next.len() > STRINGS {
            return None;
        }
        let join =
            |start: &String| next.iter().map(|end| format!("{start}{end}")).collect::<Vec<_>>();
        all = all.iter().flat_map(join).collect();
    }
    Some(all)
}

/// Whether no string begins another, which includes that none is empty.
fn free(strings: &BTreeSet<String>) -> bool {
    // In the order of strings, what begins others stands right before one of them.
    let pairs = strings.iter().zip(strings.iter().skip(1));
    !strings.contains("") && pairs.into_iter().all(|(a, b)| !b.starts_with(a.as_str()))
}

fn negated(set: &ClassUnicode) -> ClassUnicode {
    let mut negated = set.clone();
    negated.negate();
    negated
}

fn apart(a: &ClassUnicode, b: &ClassUnicode) -> bool {
    let mut both = a.clone();
    both.intersect(b);
    both.ranges().is_empty()
}

/// Brings one alternative to its normal form.
fn settle_row(mut row: Row) -> Row {
    // Fixed texts of two characters or more are strings.
    if row.len() > 1
        && let Some(all) = strings(&row).filter(free)
    {
        return vec![Node::Strings(all)];
    }
    for at in (0..row.len()).rev() {
        let (head, rest) = row.split_at_mut(at + 1);
        if let Some(Node::Repeat { node, possessive, .. }) = head.last_mut()
            && *possessive
            && needs_nothing_back(node, rest)
        {
            *possessive = false;
        }
    }
    // `A*B+` ends behind the last B of a run of A, if B is part of A; so does `A*B`.
    if let [.., Node::Repeat { node: a, least: 0, most: usize::MAX, possessive: false }, last] =
        &mut row[..]
        && let Node::Repeat { node: b, least: 1, possessive: false, .. } = last
        && let (Node::Set(a), Node::Set(b)) = (&**a, &**b)
        && apart(b, &negated(a))
    {
        *last = Node::Set(b.clone());
    }
    row
}

/// Whether a repetition that gave characters back would not match either: then it is the same with
/// and without `+` behind it.
fn needs_nothing_back(node: &Node, rest: &[Node]) -> bool {
    let optional = |node: &Node| matches!(node, Node::Repeat { least: 0, .. });
    // What comes behind never fails, so nothing is ever asked back.
    if rest.iter().all(optional) {
        return true;
    }
    let Node::Set(set) = node else { return false };
    match rest.first() {
        // Behind what is given back there are characters.
        Some(Node::End) => true,
        Some(Node::Set(next)) => apart(set, next),
        Some(Node::Repeat { node, least, .. }) if *least > 0 => match &**node {
            Node::Set(next) => apart(set, next),
            _ => false,
        },
        _ => false,
    }
}

/// Joins strings that are alternatives side by side: where none begins another at most one matches.
fn join_strings(rows: &mut Vec<Row>) {
    let mut joined: Vec<Row> = Vec::new();
    for row in rows.drain(..) {
        if let [Node::Strings(new)] = &row[..]
            && let Some([Node::Strings(old)]) = joined.last_mut().map(Vec::as_mut_slice)
        {
            let both: BTreeSet<String> = old.union(new).cloned().collect();
            if both.len() == old.len() + new.len() && free(&both) {
                *old = both;
                continue;
            }
        }
        joined.push(row);
    }
    *rows = joined;
}

/// Brings the rules for the end of a run (of white space, as a rule) to their normal form.
fn settle_spaces(rows: &mut Vec<Row>) {
    let run = |node: &Node| match node {
        Node::Repeat { node, least: 1, most: usize::MAX, possessive: false } => match &**node {
            Node::Set(set) => Some(set.clone()),
            _ => None,
        },
        _ => None,
    };
    // The set of `W+(?!\w)`, where `\w` is all but W.
    let but_last = |row: &Row| match &row[..] {
        [first, Node::Not(not)] => run(first).filter(|set| negated(set) == *not),
        _ => None,
    };
    let at_end = |row: &Row| match &row[..] {
        [first, Node::End] => run(first),
        _ => None,
    };
    // `W+$` right before `W+(?!\w)`, which takes all at the end too.
    let mut at = 0;
    while at + 1 < rows.len() {
        if at_end(&rows[at]).is_some_and(|set| but_last(&rows[at + 1]) == Some(set)) {
            rows.remove(at);
        } else {
            at += 1;
        }
    }
    // Where `W+(?!\w)` did not match there is one W, so `W+` is `W`.
    for at in 0..rows.len() {
        if let [only] = &rows[at][..]
            && let Some(set) = run(only)
            && rows[..at].iter().any(|row| but_last(row).as_ref() == Some(&set))
        {
            rows[at] = vec![Node::Set(set)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_has_the_form_of_its_pattern() {
        assert_eq!(known().len(), NAMED.len());
        for named in NAMED {
            for spelling in named.spellings {
                let forms: Option<Vec<Form>> = named.regexes.iter().map(|r| Form::of(r)).collect();
                assert_eq!(Form::of(spelling).map(|form| vec![form]), forms, "{}", named.name);
            }
        }
    }

    #[test]
    fn the_forms_of_different_patterns_differ() {
        for (at, (form, _)) in known().iter().enumerate() {
            assert!(known()[..at].iter().all(|(other, _)| other != form));
        }
    }
}
