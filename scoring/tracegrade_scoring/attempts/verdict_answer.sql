-- Whether a verdict is a yes, by a label for yes or no, else by its value.
--
-- label_answer: by the label alone; NULL where it is another word. verdict_answer: by both; rank
-- is that of `verdict_rank`. At least 0.7 of a judge or an evaluation result is yes, 1 of others.
-- NULL if it could not tell. Source: docs/metrics.md, section 8.3.
CREATE OR REPLACE TEMP MACRO label_answer(LABEL) AS
CASE
  WHEN lower(label) IN ('success', 'pass', 'passed', 'true', 'correct', 'yes') THEN TRUE
  WHEN lower(label) IN ('failure', 'fail', 'failed', 'false', 'incorrect', 'no') THEN FALSE
END;

CREATE OR REPLACE TEMP MACRO verdict_answer(LABEL, VALUE, RANK) AS
coalesce(
  label_answer(label),
  CASE
    WHEN lower(label) = 'error' THEN NULL
    WHEN rank IN ('evaluation', 'judge') THEN round_even(value, 9) >= 0.7
    ELSE round_even(value, 9) >= 1
  END
);
