-- Attributes whose JSON holds the escape of half a character, replaced by U+FFFD.
--
-- A writer that cuts a text between the two halves, or receives it cut, writes such an escape
-- (Python's `json` does). No JSON reader accepts it, so the rest of the document would be lost.
--
-- Reads:
--   single_spans
-- Columns:
--   key         BIGINT                 Key of the span in bucket_spans.
--   attributes  MAP(VARCHAR, VARCHAR)  Its attributes that hold such an escape.
-- Order:
--   none
-- Set apart first: hardly any span holds one.
WITH suspected AS (
  SELECT
    key,
    attributes
  FROM single_spans
  WHERE
    len(
      list_filter(
        map_values(attributes),
        LAMBDA text: contains(text, '\ud') OR contains(text, '\uD')
      )
    )
    > 0
),

entries AS (
  SELECT
    key,
    unnest(
      list_filter(
        map_entries(attributes),
        LAMBDA entry: regexp_matches(entry.value, '^\s*[\[{"]')
        AND regexp_matches(
          regexp_replace(entry.value, '\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w', '', 'g'),
          '\\u[dD][89a-fA-F]\w\w'
        )
      )
    ) AS entry
  FROM suspected
)

-- Whole characters are set aside, in a form that no JSON has.
SELECT
  key,
  map_from_entries(
    list({
      'key': entry.key,
      'value': regexp_replace(
        regexp_replace(
          regexp_replace(
            entry.value,
            '\\u([dD][89abAB]\w\w)\\u([dD][c-fC-F]\w\w)', chr(1) || '\1\2', 'g'
          ),
          '\\u[dD][89a-fA-F]\w\w', '\\ufffd', 'g'
        ),
        chr(1) || '(\w{4})(\w{4})', '\\u\1\\u\2', 'g'
      )
    })
  ) AS attributes
FROM entries
WHERE NOT json_valid(entry.value)
GROUP BY key;
