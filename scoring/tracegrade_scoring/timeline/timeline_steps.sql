-- The steps of one trajectory in order, each text cut to a length that a page can hold.
--
-- Reads:
--   steps
-- Parameters:
--   $trajectory_id  VARCHAR  The trajectory.
--   $date           DATE     The date of its trace, in whose files alone it is looked for.
--   $first          BIGINT   Keep steps from this index on.
--   $rows           BIGINT   Of these, keep the first so many.
--   $characters     BIGINT   Keep so many characters of each text.
-- Columns:
--   step_index     INTEGER    One row each.
--   turn           INTEGER    User messages before it; NULL if not known.
--   kind           VARCHAR    plan | thought | tool_call | observation | message | answer |
--                             handoff.
--   role           VARCHAR    Speaker: user | assistant | tool | environment.
--   agent_name     VARCHAR    NULL if none is named.
--   tool_name      VARCHAR    Of calls and observations; else NULL.
--   arguments      VARCHAR    Canonical JSON; NULL if not captured.
--   result         VARCHAR    What the tool returned; NULL if not captured.
--   content        VARCHAR    Thought, message, answer, plan (a line for each of its steps) or
--                             what the model saw; else NULL.
--   call_step      INTEGER    Of an observation: its call's step_index; else NULL.
--   status         VARCHAR    Of a call: ok | error | not_executed | interrupted | unknown; else
--                             NULL.
--   error          VARCHAR    Class and message of the error; NULL without one.
--   sub_goal       VARCHAR    As declared on the span; NULL if none.
--   decision       VARCHAR    As declared on the span; NULL if none.
--   effect         VARCHAR    As declared on the span; NULL if none.
--   model          VARCHAR    NULL if no model call produced it.
--   input_tokens   BIGINT     On the first step of a model call; else NULL.
--   output_tokens  BIGINT     As input_tokens.
--   offset_ms      DOUBLE     Start, from the earliest step's; NULL if not known.
--   duration_ms    DOUBLE     NULL if not known.
--   span_id        VARCHAR    Span that executed it, else that requested it.
--   flags          VARCHAR[]  What was cut or redacted; empty if nothing.
--   longest        BIGINT     Characters of its longest text before it was cut.
--   total          BIGINT     Steps of the whole trajectory.
-- Order:
--   step_index
WITH run_steps AS (
  SELECT
    *,
    CASE
      WHEN json_type(try_cast(plan AS JSON)) = 'ARRAY'
        THEN list_transform(
          json_extract(plan, '$[*]'),
          LAMBDA planned: concat(
            '- ',
            coalesce(planned ->> '$.text', planned ->> '$.id', planned ->> '$'),
            ' ('
            || nullif(concat_ws(', ', planned ->> '$.tool', planned ->> '$.effect'), '')
            || ')',
            ', undo: ' || (planned ->> '$.rollback'),
            ', if it fails: ' || nullif(array_to_string(planned ->> '$.on_failure[*]', '; '), ''),
            ' [' || (planned ->> '$.status') || ']'
          )
        )
      ELSE [plan]
    END AS plan_lines,
    coalesce(content, array_to_string(plan_lines, chr(10))) AS content_text,
    count(*) OVER () AS total,
    min(start_time) OVER () AS first_start
  FROM steps
  WHERE date = $date AND trajectory_id = $trajectory_id
)

SELECT
  step_index,
  turn,
  kind,
  role,
  agent_name,
  tool_name,
  left(arguments, $characters) AS arguments,
  left(result, $characters) AS result,
  left(content_text, $characters) AS content,
  call_step,
  status,
  left(concat_ws(': ', error_type, error_message), $characters) AS error,
  sub_goal,
  decision,
  effect,
  model,
  input_tokens,
  output_tokens,
  epoch_us(start_time - first_start) / 1000 AS offset_ms,
  duration_ms,
  span_id,
  coalesce(flags, []) AS flags,
  greatest(
    coalesce(length(arguments), 0), coalesce(length(result), 0), coalesce(length(content_text), 0)
  ) AS longest,
  total
FROM run_steps
WHERE step_index >= $first
ORDER BY step_index
LIMIT $rows;
