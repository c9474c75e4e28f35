-- A list or an object that was written as JSON twice, `"[\"Paris\"]"`, as it was written first;
-- all else is as it was sent.
CREATE OR REPLACE TEMP MACRO unquoted_json(TEXT) AS
CASE
  WHEN regexp_matches(text, '^\s*"\s*[\[{]') THEN coalesce(try_cast(text AS JSON) ->> '$', text)
  ELSE text
END;
