-- Whether the JSON found at some path is what a task file expects there.
--
-- actual, expected: canonical JSON; actual is NULL where there is no value. pattern: RE2, searched
-- anywhere in a text; FALSE for values of other types. low, high: the bounds of a number, both
-- included. optional: whether there need be no value. FALSE where nothing is found; NULL where
-- expected is, since the value was not bound. Source: docs/metrics.md, section 0.5.
CREATE OR REPLACE TEMP MACRO matches_expected(ACTUAL, EXPECTED, PATTERN, LOW, HIGH, OPTIONAL) AS
CASE
  WHEN actual IS NULL AND optional THEN TRUE
  WHEN expected IS NULL THEN NULL
  WHEN actual IS NULL THEN FALSE
  WHEN pattern IS NOT NULL
    THEN starts_with(actual, '"') AND regexp_matches(json_extract_string(actual, '$'), pattern)
  WHEN low IS NOT NULL
    THEN
      regexp_matches(actual, '^[-0-9]')
      AND coalesce(try_cast(actual AS DOUBLE) BETWEEN low AND high, FALSE)
  ELSE actual = expected
END;
