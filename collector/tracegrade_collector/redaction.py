"""Rows without secrets: column by column over one raw table, before anything of it is written.

Most texts hold none, so the whole buffer of a column is looked at first: RE2 runs over lots of
neighbouring texts at once, without taking them apart. Only texts of lots that may hold something
are then treated one rule at a time. What was changed is said in the column `redacted`, by path and
rule, never by value.

Never touched: ids, hashes, times, counts, types. See `redaction_rules.py` for what is found.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_collector.blobs import replace_blobs
from tracegrade_collector.capping import cap
from tracegrade_collector.config import RULES, CollectorConfig
from tracegrade_collector.pseudonyms import Pseudonyms, load_secret
from tracegrade_collector.redaction_rules import BLOB, KEY_LIKE, Rule, marker, one_by_one, rules
from tracegrade_collector.secret_names import NameKind, SecretNames
from tracegrade_collector.text_leaves import Leaf, Marks, readers, set_column

NAMED: Final = "named"
PSEUDONYM: Final = "pseudonym"
CAPPED: Final = "capped"
REDACTED: Final = "redacted"
HASH: Final = "content_hash"
LOT_TEXTS: Final = 16
KNOWN_KEYS: Final = 10_000

Positions = npt.NDArray[np.int64]


class Change(NamedTuple):
    """Which texts of an array one rule changed."""

    rule: str
    positions: Positions


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
        self._names = SecretNames(names if NAMED not in rules_off else None, pseudonym_keys)
        self._max_value_bytes = max_value_bytes
        self._max_blob_bytes = None if BLOB in rules_off else max_blob_bytes
        self._prefilter = _Prefilter(self._rules)
        self._kind_of = lru_cache(KNOWN_KEYS)(lambda key: self._names.kinds(pa.array([key]))[0])

    @classmethod
    def from_options(cls, config: CollectorConfig, state: Path) -> Self:
        """Return the redactor of a lake whose private folders are in `state`.

        Raises:
            BadSecret: The file with the secret of pseudonyms cannot be used.
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

    def redact_rows(self, rows: pa.Table) -> pa.Table:
        """Return the rows of a raw table without secrets, and what was changed in `redacted`.

        The content hash of a changed row becomes a keyed one: whoever has all the rest of a row
        could find out a short secret by trying.
        """
        parts = [pa.Table.from_batches([batch]) for batch in rows.to_batches()]
        return pa.concat_tables(map(self._redact_part, parts)) if parts else rows

    def _redact_part(self, rows: pa.Table) -> pa.Table:
        marks = Marks(rows.num_rows)
        for read in readers(rows.schema):
            rows = self._redact_leaf(rows, read(rows), marks)
        return self._marked(rows, marks) if marks else rows

    def redact_texts(self, texts: Sequence[str]) -> list[str]:
        """Return texts that stand under no name without their secrets, in their order."""
        array, _ = self._clean(pa.array(texts, pa.string()))
        found: list[str] = array.to_pylist()
        return found

    def redact_text(self, text: str) -> str:
        """Return one text without its secrets."""
        return self.redact_texts([text])[0]

    def instead_of(self, key: str, text: str) -> str | None:
        """Return what stands under a key instead of a text; None if the key does not decide."""
        kind = self._kind_of(key)
        if kind == NameKind.PSEUDONYM:
            return self._pseudonyms.of(text)
        is_secret = kind == NameKind.SECRET or (
            kind == NameKind.WEAK and len(_key_like(pa.array([text])))
        )
        return marker(NAMED) if is_secret and text else None

    def _redact_leaf(self, rows: pa.Table, leaf: Leaf, marks: Marks) -> pa.Table:
        """Return the rows with one place cleaned, and note what was changed."""
        keys, values = leaf.keys, leaf.values
        key_changes: list[Change] = []
        changes: list[Change] = []
        if keys is not None:
            values, changes = self._by_name(keys, values)
            keys, key_changes = self._clean_distinct(keys)
        values, more = self._clean(values, leaf.lots, is_shared=leaf.is_shared)
        changes += more
        if not changes and not key_changes:
            return rows
        for rule, positions in changes + key_changes:
            marks.add(leaf.owners(positions), leaf.paths(positions, keys), rule)
        touched = _union(changes)
        return leaf.rebuild(rows, keys, values, touched)

    def _by_name(self, keys: pa.Array, values: pa.Array) -> tuple[pa.Array, list[Change]]:
        """Replace the values whose key says what they are."""
        encoded = keys.dictionary_encode()
        kinds = self._names.kinds(encoded.dictionary)
        if not kinds.any():
            return values, []
        kind_of = kinds[encoded.indices.to_numpy(zero_copy_only=False)]
        changes = []
        has_text = _has_text(values)
        secret = (kind_of == NameKind.SECRET) & has_text
        weak = np.flatnonzero((kind_of == NameKind.WEAK) & has_text)
        if len(weak):
            secret[weak[_key_like(values.take(pa.array(weak)))]] = True
        if secret.any():
            values = pc.replace_with_mask(values, pa.array(secret), pa.scalar(marker(NAMED)))
            changes.append(Change(NAMED, np.flatnonzero(secret)))
        named = np.flatnonzero((kind_of == NameKind.PSEUDONYM) & has_text)
        if len(named):
            chosen = values.take(pa.array(named)).dictionary_encode()
            words = pa.array([self._pseudonyms.of(each) for each in chosen.dictionary.to_pylist()])
            values = _put(values, named, words.take(chosen.indices))
            changes.append(Change(PSEUDONYM, named))
        return values, changes

    def _clean_distinct(self, texts: pa.Array) -> tuple[pa.Array, list[Change]]:
        """Clean texts of which many are equal."""
        encoded = texts.dictionary_encode()
        dictionary, changes = self._clean(encoded.dictionary)
        if not changes:
            return texts, []
        indices = encoded.indices.to_numpy(zero_copy_only=False)
        spread = [
            Change(rule, np.flatnonzero(np.isin(indices, positions)))
            for rule, positions in changes
        ]
        return dictionary.take(encoded.indices), spread

    def _clean(
        self, texts: pa.Array, lots: Positions | None = None, *, is_shared: bool = False
    ) -> tuple[pa.Array, list[Change]]:
        """Return the texts without secrets, blobs and too long values, and what changed.

        Args:
            texts: Strings, without an offset.
            lots: Where neighbours that belong together start, and the end; every few by default.
            is_shared: Most lots are equal to others.
        """
        longest = min(self._max_value_bytes, self._max_blob_bytes or self._max_value_bytes)
        suspects = self._prefilter.suspects(texts, lots, longest, is_shared=is_shared)
        if not len(suspects):
            return texts, []
        encoded = texts.take(pa.array(suspects)).dictionary_encode()  # often one text many times
        clean, changes = self._apply(encoded.dictionary)
        if not changes:
            return texts, []
        indices = encoded.indices.to_numpy()
        spread = [
            Change(rule, suspects[np.isin(indices, positions)]) for rule, positions in changes
        ]
        return _put(texts, suspects, clean.take(encoded.indices)), spread

    def _apply(self, texts: pa.Array) -> tuple[pa.Array, list[Change]]:
        """Apply each rule to the texts it concerns."""
        changes = []
        if self._max_blob_bytes is not None:
            limit = self._max_blob_bytes
            texts, changed = _apply_long(texts, limit, lambda text: replace_blobs(text, limit))
            changes.append(Change(BLOB, changed))
        for rule in self._rules:
            texts, changed = _apply_rule(texts, rule)
            changes.append(Change(rule.name, changed))
        limit = self._max_value_bytes
        texts, changed = _apply_long(texts, limit, lambda text: cap(text, self._max_value_bytes))
        changes.append(Change(CAPPED, changed))
        return texts, [change for change in changes if len(change.positions)]

    def _marked(self, rows: pa.Table, marks: Marks) -> pa.Table:
        rows = set_column(rows, REDACTED, marks.column())
        changed = marks.rows()
        hashes = rows[HASH].combine_chunks()
        plain = hashes.take(pa.array(changed)).to_pylist()
        keyed = pa.array([self._pseudonyms.keyed_hash(each) for each in plain], hashes.type)
        return set_column(rows, HASH, _put(hashes, changed, keyed))


class _Prefilter:
    """Finds the few texts that a rule may concern."""

    def __init__(self, all_rules: Sequence[Rule]) -> None:
        hints = [hint for rule in all_rules for hint in rule.hints]
        self._hints = "|".join(hints) or r"[^\x00-\xff]"  # never
        self._finds = "|".join(f"(?:{rule.find})" for rule in all_rules) or self._hints
        self._starts = np.zeros(1 << 16, bool)
        for start in (start for rule in all_rules for start in rule.starts):
            self._starts[ord(start[0]) << 8 | ord(start[1])] = True

    def suspects(
        self, texts: pa.Array, lots: Positions | None, longest: int, *, is_shared: bool
    ) -> Positions:
        """Return the positions of texts that a rule may concern, or that are longer than this."""
        if not len(texts):
            return np.array([], np.int64)
        offsets = np.frombuffer(texts.buffers()[1], np.int32, len(texts) + 1)
        content = texts.buffers()[2]
        if content is None or not offsets[-1]:
            return np.array([], np.int64)
        is_long = np.diff(offsets) > longest
        suspected = self._begins_like_one(offsets, content) | is_long
        edges = _lots(len(texts)) if lots is None else lots
        for lot in self._suspect_lots(offsets[edges], content, is_shared=is_shared):
            suspected[edges[lot] : edges[lot + 1]] = True
        found: Positions = np.flatnonzero(suspected)
        if not len(found):
            return found
        matches = pc.match_substring_regex(texts.take(pa.array(found)), self._finds)
        is_match = matches.fill_null(False).to_numpy(zero_copy_only=False)
        kept: Positions = found[is_match | is_long[found]]
        return kept

    def _suspect_lots(
        self, edges: npt.NDArray[np.int32], content: pa.Buffer, *, is_shared: bool
    ) -> Positions:
        """Return the numbers of lots in which some hint is found."""
        lots = pa.Array.from_buffers(
            pa.binary(), len(edges) - 1, [None, pa.py_buffer(np.ascontiguousarray(edges)), content]
        )
        if not is_shared:
            return _true_at(pc.match_substring_regex(lots, self._hints))
        encoded = lots.dictionary_encode()
        is_suspect = pc.match_substring_regex(encoded.dictionary, self._hints)
        if not is_suspect.true_count:
            return np.array([], np.int64)
        return _true_at(is_suspect.take(encoded.indices))

    def _begins_like_one(
        self, offsets: npt.NDArray[np.int32], content: pa.Buffer
    ) -> npt.NDArray[np.bool_]:
        """Return which texts begin as a rule says: hints do not see where a text begins."""
        raw = np.frombuffer(content, np.uint8)
        starts = np.minimum(offsets[:-1], len(raw) - 2) if len(raw) > 1 else None
        if starts is None:
            return np.zeros(len(offsets) - 1, bool)
        pairs = raw[starts].astype(np.uint16) << 8 | raw[starts + 1]
        found: npt.NDArray[np.bool_] = self._starts[pairs]
        return found


def _apply_rule(texts: pa.Array, rule: Rule) -> tuple[pa.Array, Positions]:
    found = _true_at(pc.match_substring_regex(texts, rule.find))
    return _replaced(texts, found, rule.replace)


def _apply_long(
    texts: pa.Array, limit: int, replace: Callable[[str], str]
) -> tuple[pa.Array, Positions]:
    found = _true_at(pc.greater(pc.binary_length(texts), limit))
    return _replaced(texts, found, one_by_one(replace))


def _replaced(
    texts: pa.Array, positions: Positions, replace: Callable[[pa.Array], pa.Array]
) -> tuple[pa.Array, Positions]:
    """Return the texts with some of them replaced, and where that made a difference."""
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
    return np.flatnonzero(mask.fill_null(False).to_numpy(zero_copy_only=False))


def _has_text(values: pa.Array) -> npt.NDArray[np.bool_]:
    lengths = pc.binary_length(values).fill_null(0)
    found: npt.NDArray[np.bool_] = lengths.to_numpy(zero_copy_only=False) > 0
    return found


def _key_like(texts: pa.Array) -> Positions:
    """Return which texts have something as long and mixed as keys are."""
    return _true_at(pc.match_substring_regex(texts, KEY_LIKE))


def _lots(count: int) -> Positions:
    return np.append(np.arange(0, count, LOT_TEXTS), count)


def _union(changes: Iterable[Change]) -> Positions:
    positions = [change.positions for change in changes]
    return np.unique(np.concatenate(positions)) if positions else np.array([], np.int64)
