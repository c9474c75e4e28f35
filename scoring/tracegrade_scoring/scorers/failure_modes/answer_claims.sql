-- The first answer of each attempt that claims what was not done.
--
-- A sentence claims a sub-goal if it denies nothing, sets no condition, asks nothing, and names
-- the sub-goal or its tool in one of two ways. It has the past participle, stated as a fact
-- ("booked", "I have booked", "has now been booked"), or a noun next to a word of completion ("the
-- booking is complete"). Words of a tool that may change something and was called with success are
-- not a claim. Source: docs/metrics.md, section 9.3.
--
-- Reads:
--   attempts_with_unrecorded_answers
--   calls
--   claim_words
--   claimable_sub_goals
--   steps
-- Needs:
--   claimable_sub_goals
-- Columns:
--   attempt_id  INTEGER  One row for each attempt that has one, or may have one.
--   step_index  INTEGER  Step of the answer in the root trajectory; NULL if it is not known.
--   sub_goal    VARCHAR  What it claims; NULL if it is not known.
-- Order:
--   none
WITH answers AS (
  SELECT
    trajectory_id AS attempt_id,
    step_index,
    content,
    replace(lower(content), '’', '''') AS answer
  FROM steps
  WHERE
    kind = 'answer'
    AND trajectory_id IN (SELECT claimable_sub_goals.attempt_id FROM claimable_sub_goals)
),

sentences AS (
  SELECT
    attempt_id,
    step_index,
    unnest(regexp_extract_all(answer, '[^.!?;\n]+[.!?;]?')) AS sentence
  FROM answers
),

-- The user's actions are not claims: "you have booked" becomes "you booked".
statements AS (
  SELECT
    attempt_id,
    step_index,
    regexp_replace(
      regexp_replace(regexp_replace(sentence, '''ve\b', ' have', 'g'), '''s\b', ' is', 'g'),
      '\byou(?: have| had| already| just| recently)+ ', 'you ', 'g'
    ) AS sentence
  FROM sentences
  WHERE
    NOT ends_with(sentence, '?')
    AND NOT regexp_matches(
      sentence,
      'n''t\b|\b(?:not|no|never|none|nothing|neither|nor|cannot|unable|unsuccessful(?:ly)?|fail\w*'
      '|without|until|before|after|unless|if|once|when|whether|except|instead|denied|declined'
      '|errors?)\b'
    )
),

phrases AS (
  SELECT
    attempt_id,
    step_index,
    regexp_extract_all(
      sentence,
      '(?:^\W*|\b(?:been|is|are|was|were|have|has|i|we|all|now|successfully|already|just|also'
      '|and) )(?:(?:been|is|are|was|were|have|has|i|we|all|now|successfully|already|just|also'
      '|and) )*([a-z]+)', 1
    ) AS done,
    CASE
      WHEN
        regexp_matches(
          sentence,
          '\b(?:completed?|confirmed|done|successful(?:ly)?|finali[sz]ed|processed|placed|made'
          '|submitted|issued)\b'
        )
        AND NOT regexp_matches(
          sentence,
          '''ll\b|\b(?:will|would|can|could|shall|should|may|might|must|needs?|wants?|let|please'
          '|you)\b'
        )
        THEN regexp_extract_all(sentence, '[a-z]+')
      ELSE []
    END AS completed
  FROM statements
),

-- An answer may report what another tool did.
acts AS (
  SELECT DISTINCT
    calls.attempt_id,
    claim_words.participles,
    claim_words.nouns
  FROM calls
  INNER JOIN claim_words ON calls.tool_name = claim_words.name AND claim_words.is_tool
  WHERE
    calls.may_change
    AND NOT calls.failed
    AND calls.status <> 'interrupted'
    AND calls.attempt_id IN (SELECT claimable_sub_goals.attempt_id FROM claimable_sub_goals)
),

explained AS (
  SELECT
    attempt_id,
    flatten(list(participles)) AS participles,
    flatten(list(nouns)) AS nouns
  FROM acts
  GROUP BY attempt_id
),

weighed AS (
  SELECT
    phrases.*,
    coalesce(explained.participles, []) AS done_by_others,
    coalesce(explained.nouns, []) AS completed_by_others
  FROM phrases
  LEFT JOIN explained USING (attempt_id)
),

unexplained AS (
  SELECT
    attempt_id,
    step_index,
    list_filter(done, LAMBDA word: NOT list_contains(done_by_others, word)) AS done,
    list_filter(completed, LAMBDA word: NOT list_contains(completed_by_others, word)) AS completed
  FROM weighed
),

claims AS (
  SELECT
    unexplained.attempt_id,
    unexplained.step_index,
    claimable_sub_goals.sub_goal,
    claimable_sub_goals.known
  FROM unexplained
  INNER JOIN claimable_sub_goals USING (attempt_id)
  INNER JOIN claim_words
    ON
      claim_words.name
      = if(claim_words.is_tool, claimable_sub_goals.tool_name, claimable_sub_goals.sub_goal)
  WHERE
    list_has_any(unexplained.done, claim_words.participles)
    OR list_has_any(unexplained.completed, claim_words.nouns)
  UNION ALL
  SELECT
    attempt_id,
    step_index,
    NULL AS sub_goal,
    FALSE AS known
  FROM answers
  WHERE content IS NULL
  UNION ALL
  SELECT
    attempt_id,
    NULL AS step_index,
    NULL AS sub_goal,
    FALSE AS known
  FROM attempts_with_unrecorded_answers
  WHERE attempt_id IN (SELECT claimable_sub_goals.attempt_id FROM claimable_sub_goals)
)

SELECT
  attempt_id,
  min(step_index) FILTER (WHERE known) AS step_index,
  arg_min(sub_goal, (step_index, sub_goal)) FILTER (WHERE known) AS sub_goal
FROM claims
GROUP BY attempt_id;
