"""Reads a database's catalogs: tables, columns, functions and everything else but rows.

PostgreSQL itself writes the definitions, from its catalogs. These queries read no table of an
agent and call nothing that an agent made. They use only types, functions and operators of
`pg_catalog`; the connection's search path ensures that.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import psycopg

from tracegrade_harness.parts.names import part_text

FIRST_OF_USERS: Final = 16_384
"""The first number of an object that is not part of PostgreSQL (FirstNormalObjectId)."""


class TableColumn(NamedTuple):
    """A column of a table."""

    name: str
    type: str
    """Its type's name in `pg_type`."""


class StoredTable(NamedTuple):
    """A table or a materialized view that stores rows."""

    schema: str
    name: str
    columns: tuple[TableColumn, ...]
    """Columns by name, so that a column that is added and removed again leaves no trace."""
    key: tuple[str, ...]
    """The columns of the primary key, in its order."""

    @property
    def title(self) -> str:
        """The name in names of its objects: `public.orders`."""
        return qualified(self.schema, self.name)


class SchemaObject(NamedTuple):
    """An object that is not a row."""

    name: str
    """`public.orders`, `public.orders/column:state`, `function:public.total(integer)`."""
    table: str | None
    """Its table, `public.orders`."""
    definition: str
    """Its complete definition."""
    is_value: bool = False
    """It is the position of a sequence."""


def qualified(schema: str, name: str) -> str:
    """Return the name of an object in a schema, with one dot between both."""
    return ".".join(part_text(part).replace(".", r"\x2e") for part in (schema, name))


def schema_objects(connection: "psycopg.Connection[Any]") -> Iterator[SchemaObject]:
    """Yield everything but rows.

    Raises:
        psycopg.Error: Another connection changes it now, or the server has ended.
    """
    for kind, schema, table, name, definition in connection.execute(_OBJECTS):
        yield _object(kind, schema, table, name, definition)
    for kind, identity, row in connection.execute(_OTHERS, {"first": FIRST_OF_USERS}):
        yield SchemaObject(f"{part_text(kind)}:{_spaced(identity)}", None, row)


def stored_tables(connection: "psycopg.Connection[Any]") -> list[StoredTable]:
    """Return the tables that have rows, by schema and name.

    Raises:
        psycopg.Error: The server has ended.
    """
    return [
        StoredTable(
            schema,
            name,
            tuple(TableColumn(*each) for each in zip(columns, types, strict=True)),
            tuple(key),
        )
        for schema, name, columns, types, key in connection.execute(_TABLES)
    ]


def _object(
    kind: str, schema: str | None, table: str | None, name: str, definition: str
) -> SchemaObject:
    if kind == "table":
        title = qualified(str(schema), name)
        return SchemaObject(title, title, definition)
    if table is not None:
        title = qualified(str(schema), table)
        return SchemaObject(f"{title}/{kind}:{part_text(name)}", title, definition)
    if schema is None:
        return SchemaObject(f"{kind}:{part_text(name)}", None, definition)
    if kind in ("function", "procedure", "aggregate", "window"):
        name, _, arguments = name.partition("\n")
        title = f"{qualified(schema, name)}({_spaced(arguments)})"
        return SchemaObject(f"{kind}:{title}", None, definition)
    if kind == "sequence_value":
        title = f"sequence:{qualified(schema, name)}/value"
        return SchemaObject(title, None, definition, is_value=True)
    return SchemaObject(f"{kind}:{qualified(schema, name)}", None, definition)


def _spaced(text: str) -> str:
    """Return a text with spaces and commas, such as arguments, as a part of a name."""
    return ",".join(part_text(part) for part in text.split(","))


_USERS: Final = "left(n.nspname::text, 3) <> 'pg_' AND n.nspname <> 'information_schema'"
"""Condition for users' schemas: PostgreSQL reserves the prefix for its own and temporary ones."""


def _rights(column: str, kind: str, owner: str) -> str:
    """Return SQL for the granted rights, in an order independent of their history."""
    given = f"coalesce({column}, acldefault('{kind}', {owner}))"
    return f'(SELECT array_agg(a::text ORDER BY a::text COLLATE "C") FROM unnest({given}) AS a)'


def _text(*values: str) -> str:
    """Return SQL for values as one text, with clear limits, and with NULL distinct from ''."""
    return f"textin(record_out(ROW({', '.join(values)})))"


_RELATIONS: Final = f"""
SELECT
  CASE c.relkind
    WHEN 'v' THEN 'view' WHEN 'S' THEN 'sequence' WHEN 'c' THEN 'type' ELSE 'table' END AS kind,
  n.nspname::text AS schema, NULL::text AS relation, c.relname::text AS name,
  {
    _text(
        "c.relkind",
        "c.relpersistence",
        "c.relowner::regrole",
        "c.reloptions",
        "c.relrowsecurity",
        "c.relforcerowsecurity",
        "c.relreplident",
        "c.relispartition",
        "pg_get_expr(c.relpartbound, c.oid)",
        "CASE WHEN c.relkind = 'p' THEN pg_get_partkeydef(c.oid) END",
        "CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END",
        "(SELECT array_agg(i.inhparent::regclass ORDER BY i.inhseqno)"
        " FROM pg_inherits AS i WHERE i.inhrelid = c.oid)",
        "(SELECT row(s.seqtypid::regtype, s.seqstart, s.seqincrement, s.seqmax, s.seqmin,"
        " s.seqcache, s.seqcycle) FROM pg_sequence AS s WHERE s.seqrelid = c.oid)",
        _rights("c.relacl", "r", "c.relowner"),
    )
} AS definition
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE {_USERS} AND c.relkind IN ('r', 'p', 'f', 'm', 'v', 'S', 'c')
"""
_COLUMNS: Final = f"""
SELECT
  'column', n.nspname, c.relname, a.attname,
  {
    _text(
        "format_type(a.atttypid, a.atttypmod)",
        "a.attnotnull",
        "a.attidentity",
        "a.attgenerated",
        "a.attcollation::regcollation",
        "a.attoptions",
        "pg_get_expr(d.adbin, d.adrelid)",
        "a.attacl",
    )
}
FROM pg_attribute AS a
JOIN pg_class AS c ON c.oid = a.attrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE {_USERS} AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'f', 'c')
"""
_INDEXES: Final = f"""
SELECT
  'index', n.nspname, c.relname, i.relname,
  {_text("pg_get_indexdef(x.indexrelid)", "x.indisvalid", "x.indisclustered", "x.indisreplident")}
FROM pg_index AS x
JOIN pg_class AS c ON c.oid = x.indrelid
JOIN pg_class AS i ON i.oid = x.indexrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE {_USERS} AND c.relkind IN ('r', 'p', 'm')
"""
_CONSTRAINTS: Final = f"""
SELECT
  'constraint', n.nspname, coalesce(c.relname, t.typname), k.conname,
  {_text("pg_get_constraintdef(k.oid)", "k.convalidated", "k.condeferrable", "k.condeferred")}
FROM pg_constraint AS k
JOIN pg_namespace AS n ON n.oid = k.connamespace
LEFT JOIN pg_class AS c ON c.oid = k.conrelid
LEFT JOIN pg_type AS t ON t.oid = k.contypid
WHERE {_USERS} AND k.contype <> 't'
"""
_TRIGGERS: Final = f"""
SELECT
  'trigger', n.nspname, c.relname, t.tgname, {_text("pg_get_triggerdef(t.oid)", "t.tgenabled")}
FROM pg_trigger AS t
JOIN pg_class AS c ON c.oid = t.tgrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE {_USERS} AND NOT t.tgisinternal
"""
_RULES: Final = f"""
SELECT 'rule', n.nspname, c.relname, r.rulename, {_text("pg_get_ruledef(r.oid)", "r.ev_enabled")}
FROM pg_rewrite AS r
JOIN pg_class AS c ON c.oid = r.ev_class
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE {_USERS} AND r.rulename <> '_RETURN'
"""
_POLICIES: Final = f"""
SELECT
  'policy', n.nspname, c.relname, p.polname,
  {
    _text(
        "p.polcmd",
        "p.polpermissive",
        "p.polroles::regrole[]",
        "pg_get_expr(p.polqual, p.polrelid)",
        "pg_get_expr(p.polwithcheck, p.polrelid)",
    )
}
FROM pg_policy AS p
JOIN pg_class AS c ON c.oid = p.polrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE {_USERS}
"""
_FUNCTIONS: Final = f"""
SELECT
  CASE p.prokind
    WHEN 'p' THEN 'procedure' WHEN 'a' THEN 'aggregate' WHEN 'w' THEN 'window'
    ELSE 'function' END,
  n.nspname, NULL, p.proname || E'\\n' || pg_get_function_identity_arguments(p.oid),
  {
    _text(
        "CASE WHEN p.prokind <> 'a' THEN pg_get_functiondef(p.oid) END",
        "CASE WHEN p.prokind = 'a' THEN"
        " (SELECT textin(record_out(a)) FROM pg_aggregate AS a WHERE a.aggfnoid = p.oid) END",
        "p.proowner::regrole",
        _rights("p.proacl", "f", "p.proowner"),
    )
}
FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE {_USERS}
"""
_TYPES: Final = f"""
SELECT
  'type', n.nspname, NULL, t.typname,
  {
    _text(
        "t.typtype",
        "t.typowner::regrole",
        "t.typbasetype::regtype",
        "t.typtypmod",
        "t.typnotnull",
        "t.typdefault",
        "(SELECT array_agg(e.enumlabel ORDER BY e.enumsortorder)"
        " FROM pg_enum AS e WHERE e.enumtypid = t.oid)",
        "(SELECT row(r.rngsubtype::regtype, r.rngcollation::regcollation, r.rngcanonical,"
        " r.rngsubdiff) FROM pg_range AS r WHERE r.rngtypid = t.oid)",
        _rights("t.typacl", "T", "t.typowner"),
    )
}
FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = t.typnamespace
WHERE {_USERS} AND t.typtype IN ('d', 'e', 'r', 'b') AND t.typcategory <> 'A'
"""
_WITHOUT_SCHEMA: Final = f"""
SELECT 'schema', NULL, NULL, n.nspname,
  {_text("n.nspowner::regrole", _rights("n.nspacl", "n", "n.nspowner"))}
FROM pg_namespace AS n WHERE {_USERS}
UNION ALL
SELECT 'extension', NULL, NULL, e.extname,
  {_text("e.extversion", "e.extowner::regrole", "e.extnamespace::regnamespace")}
FROM pg_extension AS e
UNION ALL
SELECT 'large_object', NULL, NULL, m.oid::text,
  (SELECT coalesce(md5(string_agg(l.pageno || md5(l.data), '' ORDER BY l.pageno)), 'empty')
   FROM pg_largeobject AS l WHERE l.loid = m.oid)
FROM pg_largeobject_metadata AS m
UNION ALL
SELECT 'comment', NULL, NULL, pg_describe_object(d.classoid, d.objoid, d.objsubid), d.description
FROM pg_description AS d WHERE d.objoid >= {FIRST_OF_USERS}
"""
_SEQUENCE_VALUES: Final = f"""
SELECT 'sequence_value', n.nspname, NULL, c.relname,
  coalesce(pg_sequence_last_value(c.oid)::text, 'never used')
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE {_USERS} AND c.relkind = 'S'
"""
_OBJECTS: Final = "\nUNION ALL".join(
    (
        _RELATIONS,
        _COLUMNS,
        _INDEXES,
        _CONSTRAINTS,
        _TRIGGERS,
        _RULES,
        _POLICIES,
        _FUNCTIONS,
        _TYPES,
        _WITHOUT_SCHEMA,
        _SEQUENCE_VALUES,
    )
)
_RARE: Final = (
    *("pg_cast", "pg_operator", "pg_opclass", "pg_opfamily", "pg_collation", "pg_conversion"),
    *("pg_statistic_ext", "pg_ts_config", "pg_ts_dict", "pg_ts_parser", "pg_ts_template"),
    *("pg_publication", "pg_default_acl", "pg_event_trigger", "pg_language", "pg_transform"),
    *("pg_foreign_data_wrapper", "pg_foreign_server"),
)
"""Catalogs that agents seldom fill; each row is a definition in itself."""
_OTHERS: Final = "\nUNION ALL".join(
    f"""
SELECT i.type, i.identity, textin(record_out(ROW(c.*)))
FROM {catalog} AS c CROSS JOIN pg_identify_object('{catalog}'::regclass, c.oid, 0) AS i
WHERE c.oid >= %(first)s"""
    for catalog in _RARE
)
_TABLES: Final = f"""
SELECT
  n.nspname::text, c.relname::text,
  array_remove(array_agg(a.attname::text ORDER BY a.attname::text COLLATE "C"), NULL),
  array_remove(array_agg(t.typname::text ORDER BY a.attname::text COLLATE "C"), NULL),
  coalesce(
    (SELECT array_agg(k.attname::text ORDER BY array_position(x.indkey::int2[], k.attnum))
     FROM pg_index AS x JOIN pg_attribute AS k ON k.attrelid = c.oid AND k.attnum = ANY (x.indkey)
     WHERE x.indrelid = c.oid AND x.indisprimary), ARRAY[]::text[])
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_type AS t ON t.oid = a.atttypid
WHERE {_USERS} AND c.relkind IN ('r', 'm') AND c.relpersistence <> 't'
GROUP BY c.oid, n.nspname, c.relname
ORDER BY 1, 2
"""
