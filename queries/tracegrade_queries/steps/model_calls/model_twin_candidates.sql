-- Model calls of the runs that several scopes recorded, with a digest of their output.
--
-- Reads:
--   canonical
--   model_groups
--   message_parts
-- Needs:
--   model_groups GROUP BY run HAVING min(scope_name) <> max(scope_name)
-- Columns:
--   key            BIGINT   As in model_groups; one row each.
--   run            BIGINT
--   scope_name     VARCHAR
--   scope_rank     BIGINT   Position of its scope among those of the run, by the first start; from
--                           1.
--   start_ns       BIGINT
--   end_ns         BIGINT
--   output_digest  VARCHAR  Digest of its output without reasoning; NULL if not captured.
--   output_rank    BIGINT   Its number among calls of the run and scope with the same output; from
--                           1.
-- Order:
--   none
WITH scopes AS (
  SELECT
    run,
    scope_name,
    rank() OVER (PARTITION BY run ORDER BY min(start_ns), scope_name) AS scope_rank
  FROM model_groups
  GROUP BY run, scope_name
  QUALIFY count(*) OVER (PARTITION BY run) > 1
),

grouped AS (
  SELECT
    model_groups.*,
    scopes.scope_rank
  FROM model_groups
  INNER JOIN scopes USING (run, scope_name)
),

members AS (
  SELECT
    key AS outermost,
    unnest(members) AS key
  FROM grouped
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
          message_parts.part_type,
          message_parts.tool_name,
          coalesce(canonical.canonical, message_parts.arguments),
          message_parts.text
        ), chr(10)
        ORDER BY message_parts.message_position, message_parts.part_position
      )
    ) AS output_digest
  FROM members
  INNER JOIN message_parts USING (key)
  LEFT JOIN canonical ON message_parts.arguments = canonical.text
  WHERE message_parts.direction = 'out' AND message_parts.part_type <> 'reasoning'
  GROUP BY members.outermost, members.key
),

fullest AS (
  SELECT
    outermost,
    arg_max(output_digest, (part_count, output_digest)) AS output_digest
  FROM digests
  GROUP BY outermost
)

SELECT
  grouped.key,
  grouped.run,
  grouped.scope_name,
  grouped.scope_rank,
  grouped.start_ns,
  grouped.end_ns,
  fullest.output_digest,
  row_number() OVER (
    PARTITION BY grouped.run, grouped.scope_name, fullest.output_digest
    ORDER BY grouped.start_ns, grouped.span_id
  ) AS output_rank
FROM grouped
LEFT JOIN fullest ON grouped.key = fullest.outermost;
