-- The attributes of each resource that its runs keep as labels.
--
-- Those that dimensions name come first, the others by name: 64 at most, each of at most 256
-- bytes. Attributes whose names say that they are secrets, and command lines, are left out.
--
-- Reads:
--   spans
--   bucket_traces
--   label_rungs
-- Columns:
--   resource  UBIGINT  Digest of all its attributes; one row each.
--   labels    MAP(VARCHAR, VARCHAR)  Sorted by name; empty if it has none.
-- Order:
--   none
WITH resources AS (
  SELECT
    hash(spans.resource_attributes) AS resource,
    any_value(spans.resource_attributes) AS attributes
  FROM spans
  SEMI JOIN bucket_traces USING (trace_id)
  GROUP BY hash(spans.resource_attributes)
),

entries AS (
  SELECT
    resource,
    unnest(map_entries(attributes)) AS entry
  FROM resources
),

usable AS (
  SELECT
    resource,
    entry.key AS label,
    label_value(entry.value) AS label_text
  FROM entries
  WHERE
    entry.value <> ''
    AND strlen(entry.key) <= 256
    AND NOT regexp_matches(
      entry.key,
      '(?i)(^|[._-])(authorization|cookie|token|password|secret|api[_-]?key|credentials?)$'
      || '|^process\.command|^(root|agent|other|mixed|built):'
    )
),

named AS (
  SELECT DISTINCT name FROM label_rungs
),

bounded AS (
  SELECT
    usable.resource,
    usable.label,
    usable.label_text
  FROM usable
  LEFT JOIN named ON usable.label = named.name
  QUALIFY
    row_number() OVER (
      PARTITION BY usable.resource
      ORDER BY named.name IS NULL, usable.label
    ) <= 64
),

composed AS (
  SELECT
    resource,
    map_from_entries(list((label, label_text) ORDER BY label)) AS labels
  FROM bounded
  GROUP BY resource
)

SELECT
  resources.resource,
  coalesce(composed.labels, map([]::VARCHAR[], []::VARCHAR[])) AS labels
FROM resources
LEFT JOIN composed ON resources.resource = composed.resource;
