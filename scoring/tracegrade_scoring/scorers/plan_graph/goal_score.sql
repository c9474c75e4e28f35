-- One sub-goal score of an outcome, from its parts.
--
-- known: the content that it needs was captured. unjudged: a judge should decide and did not.
-- nothing: why it is not applicable where the denominator is 0. label: kept where it is scored.
CREATE OR REPLACE TEMP MACRO goal_score(NUMERATOR, DENOMINATOR, KNOWN, UNJUDGED, NOTHING, LABEL) AS
score_of(
  numerator,
  denominator,
  CASE WHEN NOT known THEN if(unjudged, 'not_judged', NULL) WHEN denominator = 0 THEN nothing END,
  if(known OR unjudged, NULL, 'content_missing'),
  if(known AND denominator <> 0, label, NULL),
  'static'
);
