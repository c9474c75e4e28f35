-- Calls whose arguments are what is left of a text that an exporter cut.
--
-- Messages are cut within the arguments of their last call. Where the execution tells the
-- arguments in full, nothing is lost.
--
-- Reads:
--   calls
--   canonical
--   cut_contents
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
    cut_contents.key,
    cut_contents.direction,
    whole_prefixes.in_arguments,
    coalesce(canonical.canonical, whole_prefixes.prefix, cut_contents.text) AS arguments
  FROM cut_contents
  INNER JOIN whole_prefixes USING (text)
  LEFT JOIN canonical ON whole_prefixes.prefix = canonical.text
),

-- The output of a model call is in its own span, else in the input of the next.
outputs AS (
  SELECT
    model_members.model_call,
    cut.*
  FROM cut
  INNER JOIN model_members USING (key)
  WHERE cut.direction = 'out'
  UNION ALL
  SELECT
    next_calls.model_call,
    cut.*
  FROM cut
  INNER JOIN model_members USING (key)
  INNER JOIN next_calls ON model_members.model_call = next_calls.next_call
  WHERE
    cut.direction = 'in'
    AND next_calls.model_call IN (SELECT recovered_parts.model_call FROM recovered_parts)
),

last_requests AS (
  SELECT max(requests.request) AS request
  FROM requests
  INNER JOIN outputs USING (model_call)
  WHERE outputs.in_arguments AND NOT requests.is_carried
  GROUP BY requests.model_call
)

SELECT calls.call
FROM calls
INNER JOIN cut ON calls.execution = cut.key AND calls.arguments = cut.arguments
UNION
SELECT calls.call
FROM calls
INNER JOIN outputs USING (model_call)
WHERE calls.arguments = outputs.arguments
UNION
SELECT calls.call
FROM calls
INNER JOIN last_requests ON calls.call = last_requests.request
INNER JOIN requests USING (request)
WHERE calls.arguments = requests.arguments;
