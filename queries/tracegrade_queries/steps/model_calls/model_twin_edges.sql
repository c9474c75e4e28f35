-- Edges from model calls that two instrumentations recorded in parallel to the first scope.
--
-- Twins come from different scopes, and overlap for at least half of the longer one's time, or one
-- is inside the other. They have the same output the same number of times, or the output of one
-- was not captured. The span of a client's call may begin after the end of a framework's span that
-- passed on a stream. If it follows at once below one span, with the same output, it is a twin,
-- too.
--
-- Reads:
--   model_twin_candidates
--   operations
-- Needs:
--   model_twin_candidates
-- Ends:
--   model_twin_ends
-- Columns:
--   key   BIGINT  Record of a later scope; one row each.
--   next  BIGINT  Record of an earlier scope; one of each scope at most leads to it.
-- Order:
--   none
WITH candidates AS (
  SELECT
    model_twin_candidates.*,
    operations.parent_span_id
  FROM model_twin_candidates
  INNER JOIN operations USING (key)
),

pairs AS (
  SELECT
    later.key,
    later.scope_name,
    earlier.key AS next,
    abs(earlier.start_ns - later.start_ns) AS distance_ns
  FROM candidates AS later
  INNER JOIN candidates AS earlier
    ON
      later.run = earlier.run
      AND later.scope_rank > earlier.scope_rank
      AND (
        later.output_digest IS NULL
        OR earlier.output_digest IS NULL
        OR (
          later.output_digest = earlier.output_digest AND later.output_rank = earlier.output_rank
        )
      )
      AND (
        share_half_their_time(earlier.start_ns, earlier.end_ns, later.start_ns, later.end_ns)
        OR (later.start_ns >= earlier.start_ns AND later.end_ns <= earlier.end_ns)
        OR (later.start_ns <= earlier.start_ns AND later.end_ns >= earlier.end_ns)
        OR (
          later.output_digest = earlier.output_digest
          AND later.parent_span_id = earlier.parent_span_id
          AND later.start_ns - earlier.end_ns BETWEEN 0 AND 1_000_000_000
        )
      )
  QUALIFY row_number() OVER (PARTITION BY later.key ORDER BY distance_ns, earlier.key) = 1
)

SELECT
  key,
  next
FROM pairs
QUALIFY row_number() OVER (PARTITION BY next, scope_name ORDER BY distance_ns, key) = 1;
