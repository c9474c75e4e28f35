-- Records of a model call that another record repeats: replays, copies, polls, other scopes.
--
-- Two records are of one call if they have one response id, or request the same calls by the same
-- ids. Their inputs and outputs must not contradict each other. If the input contains a call with
-- an id that the output requests, the call restarted its numbering and is another one.
--
-- Reads:
--   model_records
-- Needs:
--   model_records
-- Ends:
--   found_copy_ends
-- Columns:
--   key   BIGINT  As `record` in model_records; one row each.
--   next  BIGINT  A record of the same call with a lower rank, or with more content.
-- Order:
--   none
WITH alike AS (
  SELECT
    *,
    count(DISTINCT response_id) OVER (
      PARTITION BY trace_id, position, failed, output, input
    ) AS responses
  FROM model_records
  WHERE
    output IS NOT NULL
    AND (response_id IS NOT NULL OR (requests AND input IS NOT NULL AND NOT hears_own))
),

equal AS (
  SELECT
    record,
    first_value(record) OVER (
      PARTITION BY
        trace_id, position, failed, output, input, CASE WHEN responses > 1 THEN response_id END
      ORDER BY rank
    ) AS next
  FROM alike
),

-- An exporter may send a span twice, each time with an id of its own.
at_once AS (
  SELECT
    record,
    first_value(record) OVER (
      PARTITION BY trace_id, run, scope_name, start_ns, end_ns, output, input, response_id
      ORDER BY rank
    ) AS next
  FROM model_records
  WHERE output IS NOT NULL AND (response_id IS NOT NULL OR requests)
),

telling AS (
  SELECT *
  FROM model_records
  WHERE output IS NOT NULL AND response_id IS NOT NULL
),

-- A poll records the answer, but not the request.
polls AS (
  SELECT
    if(polls.rank > telling.rank, polls.record, telling.record) AS record,
    if(polls.rank > telling.rank, telling.record, polls.record) AS next
  FROM telling AS polls
  INNER JOIN telling USING (trace_id, response_id, failed, output)
  WHERE polls.input IS NULL AND telling.input IS NOT NULL
),

bare AS (
  SELECT *
  FROM model_records
  WHERE output IS NULL AND response_id IS NOT NULL
),

-- Answers that were requested before they were ready, and requested again.
after AS (
  SELECT
    bare.record,
    telling.record AS next
  FROM bare
  ASOF JOIN telling
    ON
      bare.trace_id = telling.trace_id
      AND bare.response_id = telling.response_id
      AND bare.failed = telling.failed
      AND bare.start_ns >= telling.start_ns
  WHERE
    coalesce(bare.input_tokens = telling.input_tokens, TRUE)
    AND coalesce(bare.output_tokens = telling.output_tokens, TRUE)
),

before AS (
  SELECT
    bare.record,
    arg_min(telling.record, telling.rank) AS next
  FROM bare
  INNER JOIN telling USING (trace_id, response_id, failed)
  ANTI JOIN after ON bare.record = after.record
  WHERE
    bare.start_ns < telling.start_ns
    AND coalesce(bare.input_tokens = telling.input_tokens, TRUE)
    AND coalesce(bare.output_tokens = telling.output_tokens, TRUE)
  GROUP BY bare.record
),

silent AS (
  SELECT
    bare.record,
    first_value(bare.record) OVER (
      PARTITION BY
        bare.trace_id,
        bare.response_id,
        bare.failed,
        bare.input,
        bare.input_tokens,
        bare.output_tokens
      ORDER BY bare.rank
    ) AS next
  FROM bare
  ANTI JOIN telling USING (trace_id, response_id)
),

-- Records by two instrumentations, each in its own form.
neighbors AS (
  SELECT
    record,
    rank,
    lag(record) OVER in_time AS other,
    lag(rank) OVER in_time AS other_rank,
    lag(scope_name) OVER in_time <> scope_name
    AND (
      share_half_their_time(lag(start_ns) OVER in_time, lag(end_ns) OVER in_time, start_ns, end_ns)
      OR end_ns <= lag(end_ns) OVER in_time
    ) AS is_same
  FROM telling
  WINDOW in_time AS (PARTITION BY trace_id, response_id ORDER BY start_ns, rank)
),

simultaneous AS (
  SELECT
    if(rank > other_rank, record, other) AS record,
    if(rank > other_rank, other, record) AS next
  FROM neighbors
  WHERE is_same
),

pairs AS (
  SELECT * FROM equal
  UNION
  SELECT * FROM at_once
  UNION
  SELECT * FROM polls
  UNION
  SELECT * FROM after
  UNION
  SELECT * FROM before
  UNION
  SELECT * FROM silent
  UNION
  SELECT * FROM simultaneous
),

ranked AS (
  SELECT
    pairs.record,
    pairs.next,
    model_records.rank
  FROM pairs
  INNER JOIN model_records ON pairs.next = model_records.record
  WHERE pairs.record <> pairs.next
),

nearest AS (
  SELECT
    record,
    arg_min(next, rank) AS next,
    min(rank) AS rank
  FROM ranked
  GROUP BY record
),

-- If a record is a copy of two others, one of these is a copy of the other.
joined AS (
  SELECT
    record,
    next,
    rank
  FROM nearest
  UNION ALL
  SELECT
    ranked.next AS record,
    nearest.next,
    nearest.rank
  FROM ranked
  INNER JOIN nearest USING (record)
  WHERE ranked.next <> nearest.next
)

SELECT
  record AS key,
  arg_min(next, rank) AS next
FROM joined
GROUP BY record;
