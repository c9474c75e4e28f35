-- A list or object that was encoded as JSON twice, `"[\"Paris\"]"`, decoded once.
CREATE OR REPLACE TEMP MACRO unquoted_json(TEXT) AS
CASE
  WHEN regexp_matches(text, '^\s*"\s*[\[{]') THEN coalesce(try_cast(text AS JSON) ->> '$', text)
  ELSE text
END;
