"""Rows without secrets: column by column over one raw table, before anything of it is written.

Most texts hold none, so `prefilter.py` finds the few that may, of all columns; these are treated
together, one rule at a time. The column `redacted` lists changes by path and rule, never by value.

Never touched: ids, hashes, times, counts, types. `tracegrade.redact` has the rules.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracegrade.redact.marks import marker
from tracegrade.redact.secret_rules import ESCAPED, decoded
from tracegrade_collector.config import RULES, CollectorConfig
from tracegrade_collector.redact import capping
from tracegrade_collector.redact.blobs import replace_blobs, replace_encoded_blobs
from tracegrade_collector.redact.prefilter import NOWHERE, Positions, Prefilter, lengths
from tracegrade_collector.redact.pseudonyms import Pseudonyms, load_secret
from tracegrade_collector.redact.redaction_rules import BLOB, one_by_one, rules
from tracegrade_collector.redact.replaced_values import note_replaced
from tracegrade_collector.redact.secret_keys import SecretKeys, is_secret_value
from tracegrade_collector.redact.text_leaves import (
    Leaf,
    RedactionMarks,
    distinct_lots,
    readers,
    set_column,
)
from tracegrade_lake.columns import TEXT

NAMED: Final = "named"
PSEUDONYM: Final = "pseudonym"
CAPPED: Final = "capped"
REDACTED: Final = "redacted"
HASH: Final = "content_hash"


class RuleChange(NamedTuple):
    """Texts of an array that one rule changed."""

    rule: str
    positions: Positions


class MatchedTexts(NamedTuple):
    """An array of texts, and the ones that each rule must examine."""

    texts: pa.Array
    suspects: Positions
    indices: pa.Array | None = None
    """If these are the distinct texts of many: the index of the text at each position, or NULL."""

    def codes(self) -> Positions:
        """Return the index of the text at each position; -1 for NULL."""
        if self.indices is None:
            return np.arange(len(self.texts))
        codes: Positions = self.indices.fill_null(-1).to_numpy().astype(np.int64)
        return codes


class ExaminedLeaf(NamedTuple):
    """One place of a table where texts stand, examined."""

    read: Callable[[pa.Table], Leaf]
    keys: MatchedTexts | None
    values: MatchedTexts
    changes: list[RuleChange]
    """Changes of values because of their keys."""


class Redactor:
    """Redacts rows and texts by the rules that the options name."""

    def __init__(
        self,
        pseudonyms: Pseudonyms,
        *,
        rules_off: Sequence[str] = (),
        names: Sequence[str] = (),
        pseudonym_keys: Sequence[str] = (),
        max_value_bytes: int,
        max_blob_bytes: int,
    ) -> None:
        self._pseudonyms = pseudonyms
        self._rules = rules(rules_off, names)
        self._secret_keys = SecretKeys(names if NAMED not in rules_off else None)
        self._pseudonym_keys = frozenset(pseudonym_keys)
        self._max_value_bytes = max_value_bytes
        self._max_blob_chars = None if BLOB in rules_off else max_blob_bytes
        longest = min(max_value_bytes, self._max_blob_chars or max_value_bytes)
        self._prefilter = Prefilter([each.rule for each in self._rules], longest)
        self._prefilters = [Prefilter([each.rule]) for each in self._rules]

    @classmethod
    def from_options(cls, config: CollectorConfig, state: Path) -> Self:
        """Return the redactor of a lake whose private folders are in `state`.

        Raises:
            BadSecret: The file with the secret of pseudonyms cannot be used.
            LakeUnwritable: The secret cannot be made.
        """
        given = Path(config.pseudonym_secret_file) if config.pseudonym_secret_file else None
        return cls(
            Pseudonyms(load_secret(state, given)),
            rules_off=config.redact_rules_off.split() if config.redact else RULES,
            names=config.redact_keys.split(),
            pseudonym_keys=config.pseudonym_keys.split(),
            max_value_bytes=config.max_value_bytes,
            max_blob_bytes=config.max_blob_bytes,
        )

    def redact_rows(self, rows: pa.Table, repaired: Collection[int] = ()) -> pa.Table:
        """Return the rows of a raw table without secrets, with the changes noted in `redacted`.

        A changed row gets a keyed content hash: a plain hash, with the rest of the row, would let
        a short secret be guessed.

        Args:
            rows: Any number of rows.
            repaired: The numbers of requests (`wal_seq`) with values that were replaced before;
                the replacements show which values these are.
        """
        if not rows.num_rows:
            return rows
        batches = [batch for batch in rows.to_batches() if batch.num_rows]
        parts = [pa.Table.from_batches([batch]) for batch in batches]
        places = [
            [self._examined_leaf(read, read(part)) for read in readers(rows.schema)]
            for part in parts
        ]
        clean = iter(self._clean([*_examined(chain.from_iterable(places))]))
        found = [
            self._put_back(*each, clean, repaired) for each in zip(parts, places, strict=True)
        ]
        return pa.concat_tables(found)

    def shortened(self, text: bytes, length: int | None = None) -> bytes:
        """Return a text with files replaced and, if it is too long, its end cut off.

        `redact_rows` then does the rest, as if it had been given the whole text.

        Args:
            text: UTF-8.
            length: Bytes of the whole text, if this is only its beginning.
        """
        if self._max_blob_chars is not None:
            text = replace_encoded_blobs(text, self._max_blob_chars)
        if length is None and len(text) <= self._max_value_bytes + capping.MARGIN_BYTES:
            return text
        head = capping.head_of(text, self._max_value_bytes)
        if length is not None:
            return head + capping.note_of_length(length).encode()
        note = capping.note_of(text, with_hash=not self._prefilter.has_hint_in(text))
        return head + note.encode()

    def redact_texts(self, texts: Sequence[str]) -> list[str]:
        """Return texts that have no key, without their secrets, in order."""
        ((clean, _),) = self._clean([self._examine(pa.array(texts, pa.string()))])
        found: list[str] = clean.to_pylist()
        return found

    def redact_text(self, text: str) -> str:
        """Return one text without its secrets."""
        return self.redact_texts([text])[0]

    def instead_of(self, key: str, text: str) -> str | None:
        """Return the replacement of a text because of its key; None if the key does not decide."""
        if key in self._pseudonym_keys:
            return self._pseudonyms.of(text)
        is_named = is_secret_value(self._secret_keys.kind_of(key), key, text)
        return marker(NAMED) if is_named else None

    def _put_back(
        self,
        rows: pa.Table,
        places: Sequence[ExaminedLeaf],
        clean: Iterator[tuple[pa.Array, list[RuleChange]]],
        repaired: Collection[int],
    ) -> pa.Table:
        """Return the rows of one batch with the changes at its positions."""
        marks = RedactionMarks(rows.num_rows)
        for leaf in places:
            rows = _put_back(rows, leaf, clean, marks)
        if repaired:
            note_replaced(rows, repaired, marks)
        return self._marked(rows, marks) if marks else rows

    def _examined_leaf(self, read: Callable[[pa.Table], Leaf], leaf: Leaf) -> ExaminedLeaf:
        if leaf.keys is None:
            examine = self._examine_distinct if leaf.is_shared else self._examine
            return ExaminedLeaf(read, None, examine(leaf.values), [])
        if leaf.is_shared:
            examined = self._entries(read, distinct_lots(leaf))
            if not examined.changes and not any(
                len(each.suspects) for each in _examined([examined])
            ):
                return ExaminedLeaf(read, None, MatchedTexts(leaf.values, NOWHERE), [])
        return self._entries(read, leaf)

    def _entries(self, read: Callable[[pa.Table], Leaf], leaf: Leaf) -> ExaminedLeaf:
        """Return maps examined, with values replaced because of their keys."""
        keys = self._examine_distinct(leaf.keys)
        names = keys.texts.to_pylist()
        values, changes = leaf.values, list[RuleChange]()
        named = self._secret_keys.secrets(names, keys.codes, values, leaf.letters)
        if len(named):
            values = _put(values, named, pa.repeat(pa.scalar(marker(NAMED), TEXT), len(named)))
            changes.append(RuleChange(NAMED, named))
        people = self._pseudonymous(names, keys, values)
        if len(people):
            values = _put(values, people, self._words(values.take(pa.array(people))))
            changes.append(RuleChange(PSEUDONYM, people))
        return ExaminedLeaf(read, keys, self._examine(values), changes)

    def _pseudonymous(
        self, names: Sequence[str], keys: MatchedTexts, values: pa.Array
    ) -> Positions:
        """Return the positions of values that need a pseudonym, rising."""
        if self._pseudonym_keys.isdisjoint(names):
            return NOWHERE
        is_one = np.array([name in self._pseudonym_keys for name in names])
        return np.flatnonzero(is_one[keys.codes()] & (lengths(values) > 0))

    def _words(self, values: pa.Array) -> pa.Array:
        """Return the pseudonyms of values."""
        encoded = values.dictionary_encode()
        words = [self._pseudonyms.of(each) for each in encoded.dictionary.to_pylist()]
        return pa.array(words, values.type).take(encoded.indices)

    def _examine(self, texts: pa.Array) -> MatchedTexts:
        return MatchedTexts(texts, self._prefilter.suspects(texts))

    def _examine_distinct(self, texts: pa.Array) -> MatchedTexts:
        encoded = texts.dictionary_encode()
        return self._examine(encoded.dictionary)._replace(indices=encoded.indices)

    def _clean(self, examined: Sequence[MatchedTexts]) -> list[tuple[pa.Array, list[RuleChange]]]:
        """Return each array without secrets, and what changed; all are treated together."""
        suspects = [each.texts.take(pa.array(each.suspects)) for each in examined]
        encoded = pa.concat_arrays(suspects).dictionary_encode()  # often one text many times
        clean, changes = self._apply(encoded.dictionary)
        if not changes:
            return [(each.texts, []) for each in examined]
        ends = np.cumsum([len(each) for each in suspects])
        codes = np.split(encoded.indices.to_numpy(), ends[:-1])
        return [_cleaned(*each, clean, changes) for each in zip(examined, codes, strict=True)]

    def _apply(self, texts: pa.Array) -> tuple[pa.Array, list[RuleChange]]:
        """Apply each rule to its suspects; for texts that are too long, to the kept part."""
        changes = []
        if self._max_blob_chars is not None:
            limit = self._max_blob_chars
            replace = one_by_one(lambda text: replace_blobs(text, limit))
            texts, changed = _replaced(texts, _longer(texts, limit), replace)
            changes.append(RuleChange(BLOB, changed))
        limit = self._max_value_bytes
        long = _longer(texts, limit)
        notes = [self._note(each) for each in texts.take(pa.array(long)).to_pylist()]
        texts, _ = _replaced(texts, long, one_by_one(lambda text: capping.head(text, limit)))
        texts, found = self._by_rules(texts)
        texts, uncovered = self._decoded_by_rules(texts)
        changes += found + uncovered
        heads = zip(texts.take(pa.array(long)).to_pylist(), notes, strict=True)
        capped = [capping.cap(text, note, limit) for text, note in heads]
        texts = _put(texts, long, pa.array(capped, texts.type))
        changes.append(RuleChange(CAPPED, long))
        return texts, [change for change in changes if len(change.positions)]

    def _by_rules(self, texts: pa.Array) -> tuple[pa.Array, list[RuleChange]]:
        changes = []
        for rule, prefilter in zip(self._rules, self._prefilters, strict=True):
            texts, changed = _replaced(texts, prefilter.suspects(texts), rule.replace)
            changes.append(RuleChange(rule.name, changed))
        return texts, changes

    def _decoded_by_rules(self, texts: pa.Array) -> tuple[pa.Array, list[RuleChange]]:
        r"""Return the texts, decoded where decoding uncovers a secret.

        Other texts keep their escapes. Code is full of escapes that must stay: `/https?:\/\//`.
        """
        escaped = _true_at(pc.match_substring_regex(texts, ESCAPED))
        if not len(escaped):
            return texts, []
        plain = one_by_one(decoded)(texts.take(pa.array(escaped)))
        clean, changes = self._by_rules(plain)
        uncovered = _true_at(pc.not_equal(plain, clean))
        texts = _put(texts, escaped[uncovered], clean.take(pa.array(uncovered)))
        return texts, [RuleChange(name, escaped[at]) for name, at in changes]

    def _note(self, text: str) -> str:
        """Return the note of a text that is cut.

        Without a hash if it may hold a secret, which could be guessed from the hash and the rest.
        """
        made = capping.note_at_end(text)
        return made or capping.note(text, with_hash=not self._prefilter.has_hint(text))

    def _marked(self, rows: pa.Table, marks: RedactionMarks) -> pa.Table:
        rows = set_column(rows, REDACTED, marks.column())
        changed = marks.rows()
        hashes = rows[HASH].combine_chunks()
        plain = hashes.take(pa.array(changed)).to_pylist()
        keyed = pa.array([self._pseudonyms.keyed_hash(each) for each in plain], hashes.type)
        return set_column(rows, HASH, _put(hashes, changed, keyed))


def _examined(places: Iterable[ExaminedLeaf]) -> Iterator[MatchedTexts]:
    """Yield what of places is examined, in the order of `_put_back`."""
    for leaf in places:
        if leaf.keys:
            yield leaf.keys
        yield leaf.values


def _put_back(
    rows: pa.Table,
    examined: ExaminedLeaf,
    clean: Iterator[tuple[pa.Array, list[RuleChange]]],
    marks: RedactionMarks,
) -> pa.Table:
    """Return the rows with the changes at one position, and note them."""
    distinct_keys, key_changes = next(clean) if examined.keys else (None, [])
    values, changes = next(clean)
    if not (examined.changes or changes or key_changes):
        return rows
    leaf = examined.read(rows)
    keys = leaf.keys
    if examined.keys and key_changes:
        keys, key_changes = _spread(examined.keys, distinct_keys, key_changes)
        keys = _with_distinct_keys(keys, leaf.lots, key_changes)
    values, changes = _spread(examined.values, values, changes)
    changes = examined.changes + changes
    for rule, positions in changes + key_changes:
        marks.add(leaf.owners(positions), leaf.paths(positions, keys), rule)
    touched = [change.positions for change in changes]
    return leaf.rebuild(rows, keys, values, np.unique(np.concatenate([NOWHERE, *touched])))


def _with_distinct_keys(keys: pa.Array, lots: Positions, changes: list[RuleChange]) -> pa.Array:
    """Return keys that are unique in each map: redacted ones end in their position."""
    if not len(lots):
        return keys
    changed = np.unique(np.concatenate([positions for _, positions in changes]))
    places = changed - lots[np.searchsorted(lots, changed, side="right") - 1]
    numbered = pc.binary_join_element_wise(
        keys.take(pa.array(changed)), pa.array(places).cast(pa.string()), "#"
    )
    return _put(keys, changed, numbered)


def _spread(
    examined: MatchedTexts, texts: pa.Array, changes: list[RuleChange]
) -> tuple[pa.Array, list[RuleChange]]:
    """Return all texts and their changes, given those of the distinct ones."""
    if examined.indices is None:
        return texts, changes
    indices = examined.codes()
    spread = [RuleChange(rule, np.flatnonzero(np.isin(indices, at))) for rule, at in changes]
    return texts.take(examined.indices), spread


def _cleaned(
    examined: MatchedTexts, codes: Positions, clean: pa.Array, changes: list[RuleChange]
) -> tuple[pa.Array, list[RuleChange]]:
    """Return an array with its suspects cleaned; codes say which of the clean texts each is."""
    own = [RuleChange(rule, examined.suspects[np.isin(codes, at)]) for rule, at in changes]
    own = [change for change in own if len(change.positions)]
    if not own:
        return examined.texts, []
    return _put(examined.texts, examined.suspects, clean.take(pa.array(codes))), own


def _longer(texts: pa.Array, limit: int) -> Positions:
    return _true_at(pc.greater(pc.binary_length(texts), limit))


def _replaced(
    texts: pa.Array, positions: Positions, replace: Callable[[pa.Array], pa.Array]
) -> tuple[pa.Array, Positions]:
    """Return the texts with some replaced, and the positions where that made a difference."""
    if not len(positions):
        return texts, positions
    before = texts.take(pa.array(positions))
    after = replace(before)
    differs = _true_at(pc.not_equal(before, after))
    changed = positions[differs]
    return _put(texts, changed, after.take(pa.array(differs))), changed


def _put(texts: pa.Array, positions: Positions, others: pa.Array) -> pa.Array:
    """Return the texts with others at these rising positions."""
    mask = np.zeros(len(texts), bool)
    mask[positions] = True
    return pc.replace_with_mask(texts, pa.array(mask), others)


def _true_at(mask: pa.BooleanArray) -> Positions:
    return np.flatnonzero(_mask(mask))


def _mask(array: pa.BooleanArray) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = array.fill_null(False).to_numpy(zero_copy_only=False)
    return found
