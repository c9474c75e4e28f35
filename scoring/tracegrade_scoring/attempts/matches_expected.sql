-- Whether the JSON found at some place is what a task file asks for there.
--
-- found, wanted: canonical JSON, found NULL where nothing is. pattern: RE2, looked for anywhere in
-- a text; other values are no text. low, high: the bounds of a number, included. FALSE where
-- nothing is found; NULL where wanted is, which then stands for a value that was not bound.
-- Source: docs/metrics.md, section 0.5.
CREATE OR REPLACE TEMP MACRO matches_expected(FOUND, WANTED, PATTERN, LOW, HIGH) AS
CASE
  WHEN wanted IS NULL THEN NULL
  WHEN found IS NULL THEN FALSE
  WHEN pattern IS NOT NULL
    THEN starts_with(found, '"') AND regexp_matches(json_extract_string(found, '$'), pattern)
  WHEN low IS NOT NULL
    THEN
      regexp_matches(found, '^[-0-9]')
      AND coalesce(try_cast(found AS DOUBLE) BETWEEN low AND high, FALSE)
  ELSE found = wanted
END;
