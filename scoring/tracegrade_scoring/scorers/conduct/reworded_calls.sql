-- Pairs of calls to one tool in direct succession, if the second is a rewording of the first.
--
-- Neither call writes, and both returned the same text, or it is unknown whether they did.
-- Arguments are a rewording if their keys are the same and each value that differs is a text that
-- shares enough words. At least two thirds of all words (in any case and order, at least one) must
-- be in both texts. So must all words with a digit, all capitalized words but the first, all words
-- joined by other characters than spaces (paths, addresses, ids), and all symbols. Equal arguments
-- count too. Source: docs/metrics.md, section 9.1.
--
-- Reads:
--   calls
-- Needs:
--   calls GROUP BY tool_name HAVING count(*) > 1
-- Columns:
--   attempt_id     INTEGER  The root trajectory.
--   trajectory_id  INTEGER  The trajectory that made both calls.
--   own_index      INTEGER  Index of the second call among the calls of its trajectory; one row
--                           each.
--   call_index     INTEGER  Index of the second call.
--   tool_name      VARCHAR  Never NULL.
--   same_text      BOOLEAN  Arguments are equal.
--   certain        BOOLEAN  Both results are known.
-- Order:
--   none
WITH comparable_calls AS (
  SELECT
    attempt_id,
    trajectory_id,
    own_index,
    call_index,
    tool_name,
    arguments,
    parsed,
    -- The error replaces a missing result.
    CASE
      WHEN NOT result_missing THEN hash(result)
      WHEN result IS NULL AND error IS NOT NULL THEN hash('error: ' || error)
    END AS returned
  FROM calls
  WHERE
    NOT content_missing
    AND tool_name IS NOT NULL
    AND coalesce(effect = 'read', TRUE)
),

pairs AS (
  SELECT
    later.*,
    earlier.arguments AS earlier_arguments,
    earlier.parsed AS earlier_parsed,
    earlier.returned = later.returned AS same_result,
    earlier.arguments = later.arguments AS same_text
  FROM comparable_calls AS later
  INNER JOIN comparable_calls AS earlier
    ON
      later.attempt_id = earlier.attempt_id
      AND later.trajectory_id = earlier.trajectory_id
      AND later.tool_name = earlier.tool_name
      AND later.own_index = earlier.own_index + 1
  WHERE coalesce(earlier.returned = later.returned, TRUE)
),

-- Values of the keys in both, as JSON; canonical JSON has its keys sorted.
differences AS (
  SELECT
    attempt_id,
    trajectory_id,
    own_index,
    list_filter(
      list_zip(json_extract(earlier_arguments, '$.*'), json_extract(arguments, '$.*')),
      LAMBDA pair: pair[1] <> pair[2]
    ) AS changed
  FROM pairs
  WHERE
    NOT same_text
    AND parsed
    AND earlier_parsed
    AND json_keys(arguments) = json_keys(earlier_arguments)
),

texts AS (
  SELECT
    attempt_id,
    trajectory_id,
    own_index,
    unnest(changed) AS pair
  FROM differences
),

worded AS (
  SELECT
    attempt_id,
    trajectory_id,
    own_index,
    json_type(pair[1]) = 'VARCHAR' AND json_type(pair[2]) = 'VARCHAR' AS are_texts,
    regexp_extract_all(pair[1] ->> '$', '[\p{L}\p{N}]+') AS earlier_written,
    regexp_extract_all(pair[2] ->> '$', '[\p{L}\p{N}]+') AS later_written,
    list_distinct(regexp_extract_all(lower(pair[1] ->> '$'), '[\p{L}\p{N}]+')) AS earlier_words,
    list_distinct(regexp_extract_all(lower(pair[2] ->> '$'), '[\p{L}\p{N}]+')) AS later_words,
    list_sort(
      list_distinct(
        regexp_extract_all(
          lower(pair[1] ->> '$'),
          '[\p{L}\p{N}]+(?:[^\s\p{L}\p{N},;!()"''’…]+[\p{L}\p{N}]+)+|[\p{S}*/%&#@\\]+|\s-+\s'
        )
      )
    )
    = list_sort(
      list_distinct(
        regexp_extract_all(
          lower(pair[2] ->> '$'),
          '[\p{L}\p{N}]+(?:[^\s\p{L}\p{N},;!()"''’…]+[\p{L}\p{N}]+)+|[\p{S}*/%&#@\\]+|\s-+\s'
        )
      )
    )
      AS same_ids
  FROM texts
),

differing AS (
  SELECT
    *,
    list_concat(
      list_filter(
        earlier_written[2:], LAMBDA word: NOT list_contains(later_words, lower(word))
      ),
      list_filter(
        later_written[2:], LAMBDA word: NOT list_contains(earlier_words, lower(word))
      )
    ) AS in_one_alone
  FROM worded
),

rewordings AS (
  SELECT
    attempt_id,
    trajectory_id,
    own_index
  FROM differing
  GROUP BY attempt_id, trajectory_id, own_index
  HAVING
    bool_and(
      are_texts
      AND list_has_any(earlier_words, later_words)
      AND 3 * len(list_intersect(earlier_words, later_words))
      >= 2 * len(list_distinct(list_concat(earlier_words, later_words)))
      AND same_ids
      AND len(list_filter(in_one_alone, LAMBDA word: regexp_matches(word, '^\p{Lu}'))) = 0
      AND list_sort(list_filter(earlier_words, LAMBDA word: regexp_matches(word, '\p{N}')))
      = list_sort(list_filter(later_words, LAMBDA word: regexp_matches(word, '\p{N}')))
    )
)

SELECT
  pairs.attempt_id,
  pairs.trajectory_id,
  pairs.own_index,
  pairs.call_index,
  pairs.tool_name,
  pairs.same_text,
  pairs.same_result IS NOT NULL AS certain
FROM pairs
LEFT JOIN rewordings USING (attempt_id, trajectory_id, own_index)
WHERE pairs.same_text OR rewordings.attempt_id IS NOT NULL;
