-- Calls whose arguments are what is left of a text that an exporter cut.
--
-- Messages are cut within the arguments of their last call. Where the execution tells the
-- arguments in full, nothing is lost.
--
-- Reads:
--   calls
--   canonical
--   cut_events
--   cut_texts
--   model_members
--   next_calls
--   recovered_parts
--   requests
--   whole_prefixes
-- Needs:
--   whole_prefixes
-- Columns:
--   call  BIGINT  One row each.
-- Order:
--   none
WITH cut AS (
  SELECT
    sent.key,
    sent.says_output,
    whole_prefixes.in_arguments,
    coalesce(canonical.canonical, whole_prefixes.prefix, sent.text) AS arguments
  FROM (
    SELECT
      key,
      text,
      NOT regexp_matches(name, 'input|prompt|request') AS says_output
    FROM cut_texts
    UNION
    SELECT
      key,
      text,
      name IN ('gen_ai.output.messages', 'gen_ai.completion', 'gen_ai.event.content', 'message')
        AS says_output
    FROM cut_events
  ) AS sent
  INNER JOIN whole_prefixes USING (text)
  LEFT JOIN canonical ON whole_prefixes.prefix = canonical.text
),

-- What tells the output of a model call: its own span, else the input of the next.
telling AS (
  SELECT
    model_members.model_call,
    cut.*
  FROM cut
  INNER JOIN model_members USING (key)
  WHERE cut.says_output
  UNION ALL
  SELECT
    next_calls.model_call,
    cut.*
  FROM cut
  INNER JOIN model_members USING (key)
  INNER JOIN next_calls ON model_members.model_call = next_calls.next_call
  WHERE
    NOT cut.says_output
    AND next_calls.model_call IN (SELECT recovered_parts.model_call FROM recovered_parts)
),

last_requests AS (
  SELECT max(requests.request) AS request
  FROM requests
  INNER JOIN telling USING (model_call)
  WHERE telling.in_arguments AND NOT requests.is_carried
  GROUP BY requests.model_call
)

SELECT calls.call
FROM calls
INNER JOIN cut ON calls.execution = cut.key AND calls.arguments = cut.arguments
UNION
SELECT calls.call
FROM calls
INNER JOIN telling USING (model_call)
WHERE calls.arguments = telling.arguments
UNION
SELECT calls.call
FROM calls
INNER JOIN last_requests ON calls.call = last_requests.request
INNER JOIN requests USING (request)
WHERE calls.arguments = requests.arguments;
