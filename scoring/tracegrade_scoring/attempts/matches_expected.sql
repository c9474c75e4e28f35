-- Whether the JSON found at some path is what a task file expects there.
--
-- found, expected: canonical JSON; found is NULL where there is no value. pattern: RE2, searched
-- anywhere in a text; FALSE for values of other types. low, high: the bounds of a number, both
-- included. optional: whether there need be no value. FALSE where nothing is found; NULL where
-- expected is, since the value was not bound. Source: docs/metrics.md, section 0.5.
CREATE OR REPLACE TEMP MACRO matches_expected(FOUND, EXPECTED, PATTERN, LOW, HIGH, OPTIONAL) AS
CASE
  WHEN found IS NULL AND optional THEN TRUE
  WHEN expected IS NULL THEN NULL
  WHEN found IS NULL THEN FALSE
  WHEN pattern IS NOT NULL
    THEN starts_with(found, '"') AND regexp_matches(json_extract_string(found, '$'), pattern)
  WHEN low IS NOT NULL
    THEN
      regexp_matches(found, '^[-0-9]')
      AND coalesce(try_cast(found AS DOUBLE) BETWEEN low AND high, FALSE)
  ELSE found = expected
END;
