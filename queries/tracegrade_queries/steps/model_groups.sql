-- Nested model spans as one row: what may be a model call of its own.
--
-- Reads:
--   operations
--   runs_of_operations
--   known_parents
--   model_ends
--   spoken_parts
--   canonical
-- Columns:
--   key            BIGINT    The outermost span; one row each.
--   members        BIGINT[]  All its spans.
--   trajectory_id  VARCHAR
--   scope_name     VARCHAR   Of the outermost span.
--   span_id        VARCHAR   Of the outermost span.
--   start_ns       BIGINT    Of the outermost span.
--   end_ns         BIGINT    Of the outermost span.
--   said           VARCHAR   Digest of what it said without reasoning; NULL if not captured.
--   said_rank      BIGINT    Its number among those of run and scope that said the same; from 1.
-- Order:
--   none
WITH containers AS (
  SELECT parent AS key
  FROM known_parents
  WHERE operation = 'model' AND parent_operation = 'model'
  GROUP BY parent
  HAVING count(*) > 1
),

members AS (
  SELECT
    operations.key,
    coalesce(model_ends.last, operations.key) AS outermost
  FROM operations
  LEFT JOIN model_ends USING (key)
  WHERE operations.operation = 'model'
),

calls AS (
  SELECT
    members.outermost,
    list_sort(list(members.key)) AS members
  FROM members
  LEFT JOIN containers USING (key)
  GROUP BY members.outermost
  HAVING count(containers.key) = 0
),

digests AS (
  SELECT
    members.outermost,
    members.key,
    count(*) AS part_count,
    md5(
      string_agg(
        concat_ws(
          ' ',
          spoken_parts.part_type,
          spoken_parts.tool_name,
          coalesce(canonical.canonical, spoken_parts.arguments),
          trim(spoken_parts.text)
        ), '\n'
        ORDER BY spoken_parts.message_position, spoken_parts.part_position
      )
    ) AS said
  FROM members
  INNER JOIN spoken_parts USING (key)
  LEFT JOIN canonical ON spoken_parts.arguments = canonical.text
  WHERE spoken_parts.direction = 'out' AND spoken_parts.part_type <> 'reasoning'
  GROUP BY members.outermost, members.key
),

fullest AS (
  SELECT
    outermost,
    arg_max(said, (part_count, said)) AS said
  FROM digests
  GROUP BY outermost
)

SELECT
  calls.outermost AS key,
  calls.members,
  runs_of_operations.trajectory_id,
  operations.scope_name,
  operations.span_id,
  operations.start_ns,
  operations.end_ns,
  fullest.said,
  row_number() OVER (
    PARTITION BY runs_of_operations.trajectory_id, operations.scope_name, fullest.said
    ORDER BY operations.start_ns, operations.span_id
  ) AS said_rank
FROM calls
INNER JOIN operations ON calls.outermost = operations.key
INNER JOIN runs_of_operations USING (key)
LEFT JOIN fullest USING (outermost);
