-- The attributes of its resources and spans that each run keeps, for dimensions to read.
--
-- An attribute of the resource has its own name; of several resources, that of the first span
-- counts, the root's before others. An attribute of a span is a label only if a dimension names
-- it: `root:NAME`, `agent:NAME` or `other:NAME`, after the span that has it, whichever comes first
-- in this order. Spans of the trace that are in no run are the last of the others. `mixed:NAME` is
-- another value that the run has under the name.
--
-- Reads:
--   bucket_spans
--   label_rungs
--   operation_runs
--   operations
--   resource_labels
--   run_ids
-- Columns:
--   run     BIGINT                 One row each.
--   labels  MAP(VARCHAR, VARCHAR)  Sorted by name, 64 at most.
-- Order:
--   none
WITH labeled_spans AS (
  SELECT
    key,
    trace_id,
    labels
  FROM bucket_spans
  WHERE labels IS NOT NULL
),

run_resources AS (
  SELECT DISTINCT
    operation_runs.run,
    bucket_spans.resource
  FROM operation_runs
  INNER JOIN bucket_spans USING (key)
),

resources AS (
  SELECT
    run,
    any_value(resource) AS resource,
    count(*) > 1 AS are_several
  FROM run_resources
  GROUP BY run
),

positions AS (
  SELECT
    operation_runs.run,
    operation_runs.key,
    CASE
      WHEN operations.key = run_ids.root THEN 0
      WHEN operations.operation = 'agent' THEN 1
      ELSE 2
    END AS kind,
    create_sort_key(
      operations.key <> coalesce(run_ids.root, -1), 'ASC NULLS LAST',
      operations.start_ns, 'ASC NULLS LAST',
      operations.end_ns, 'DESC NULLS LAST',
      operations.span_id, 'ASC NULLS LAST'
    ) AS position
  FROM operation_runs
  INNER JOIN run_ids USING (run)
  INNER JOIN operations USING (key)
  INNER JOIN resources ON operation_runs.run = resources.run
  LEFT JOIN labeled_spans ON operation_runs.key = labeled_spans.key
  WHERE resources.are_several OR labeled_spans.key IS NOT NULL
),

placed_spans AS (
  SELECT
    positions.run,
    positions.kind,
    positions.position,
    labeled_spans.labels
  FROM positions
  INNER JOIN labeled_spans USING (key)
  UNION ALL
  SELECT
    run_ids.run,
    3 AS kind,
    create_sort_key(
      bucket_spans.start_ns, 'ASC NULLS LAST', bucket_spans.span_id, 'ASC NULLS LAST'
    ) AS position,
    bucket_spans.labels
  FROM bucket_spans
  ANTI JOIN operation_runs USING (key)
  INNER JOIN run_ids USING (trace_id)
  WHERE bucket_spans.labels IS NOT NULL
),

span_values AS (
  SELECT
    placed_spans.run,
    label_rungs.label,
    list(
      struct_pack(
        kind := placed_spans.kind, text := label_value(placed_spans.labels[label_rungs.name])
      )
      ORDER BY placed_spans.kind, placed_spans.position
    ) AS found
  FROM placed_spans
  INNER JOIN label_rungs ON placed_spans.labels[label_rungs.name] <> ''
  WHERE
    len(
      list_filter(
        map_entries(label_rungs.conditions),
        LAMBDA each: placed_spans.labels[each.key] IS DISTINCT FROM each.value  -- noqa: RF01
      )
    ) = 0
  GROUP BY placed_spans.run, label_rungs.label
),

labeled_runs AS (
  SELECT DISTINCT run FROM span_values
),

resource_positions AS (
  SELECT
    positions.run,
    bucket_spans.resource,
    min(positions.position) AS position
  FROM positions
  INNER JOIN bucket_spans USING (key)
  INNER JOIN resources ON positions.run = resources.run AND resources.are_several
  GROUP BY positions.run, bucket_spans.resource
),

resource_entries AS (
  SELECT
    resource_positions.run,
    resource_positions.position,
    unnest(map_entries(resource_labels.labels)) AS entry
  FROM resource_positions
  INNER JOIN resource_labels USING (resource)
  UNION ALL
  SELECT
    resources.run,
    ''::BLOB AS position,
    unnest(map_entries(resource_labels.labels)) AS entry
  FROM resources
  INNER JOIN resource_labels USING (resource)
  INNER JOIN labeled_runs ON resources.run = labeled_runs.run
  WHERE NOT resources.are_several
),

resource_values AS (
  SELECT
    run,
    entry.key AS label,
    list(entry.value ORDER BY position) AS texts
  FROM resource_entries
  GROUP BY run, entry.key
),

entries AS (
  SELECT
    run,
    0 AS rank,
    ['root:', 'agent:', 'other:', 'other:'][found[1].kind + 1] || label AS label,
    found[1].text AS label_text
  FROM span_values
  UNION ALL
  SELECT
    run,
    1 AS rank,
    'mixed:' || label AS label,
    list_filter(found, LAMBDA each: each.text <> found[1].text)[1].text AS label_text
  FROM span_values
  UNION ALL
  SELECT
    run,
    2 AS rank,
    label,
    texts[1] AS label_text
  FROM resource_values
  UNION ALL
  SELECT
    run,
    3 AS rank,
    'mixed:' || label AS label,
    list_filter(texts, LAMBDA each: each <> texts[1])[1] AS label_text
  FROM resource_values
),

single_entries AS (
  SELECT
    run,
    label,
    min(rank) AS rank,
    arg_min(label_text, rank) AS label_text
  FROM entries
  WHERE label_text IS NOT NULL
  GROUP BY run, label
),

bounded AS (
  SELECT
    run,
    label,
    label_text
  FROM single_entries
  QUALIFY row_number() OVER (PARTITION BY run ORDER BY rank, label) <= 64
),

composed AS (
  SELECT
    run,
    map_from_entries(list((label, label_text) ORDER BY label)) AS labels
  FROM bounded
  GROUP BY run
)

SELECT
  resources.run,
  coalesce(composed.labels, resource_labels.labels) AS labels
FROM resources
LEFT JOIN composed ON resources.run = composed.run
LEFT JOIN resource_labels ON resources.resource = resource_labels.resource;
