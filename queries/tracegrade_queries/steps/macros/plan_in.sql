-- Plans and answers inside texts; NULL if there is none.
--
-- `plan_in` reads the arguments of a plan tool, `json_list_in` the JSON list in a text, and
-- `plan_in_text` the list that a text declares as its plan (docs/metrics.md, section 4.5). Without
-- a JSON list it reads a list in words, numbered or with bullets. This list follows a line that
-- mentions a plan, or opens the text; a list below other words may be an answer. `answer_in` reads
-- the answer from the arguments of an answer tool, else its result. (noqa: a parameter is taken
-- for a type.)
CREATE OR REPLACE TEMP MACRO plan_in(arguments) AS -- noqa: CP05
coalesce(
  try_cast(arguments AS JSON) -> '$.todos',
  try_cast(arguments AS JSON) -> '$.plan',
  try_cast(arguments AS JSON) -> '$.steps',
  try_cast(arguments AS JSON)
)::VARCHAR;

CREATE OR REPLACE TEMP MACRO json_list_in(text) AS -- noqa: CP05
CASE
  WHEN json_valid(regexp_extract(text, '(?s)\[.*\]')) THEN regexp_extract(text, '(?s)\[.*\]')
END;

CREATE OR REPLACE TEMP MACRO listed_in(text) AS -- noqa: CP05
coalesce(
  nullif(
    regexp_extract_all(text, '(?im)^[ \t]*(?:step[ \t]+)?\d+[.):][ \t]+(\S.*?)[ \t]*$', 1), []
  ),
  nullif(regexp_extract_all(text, '(?m)^[ \t]*[-*•][ \t]+(\S.*?)[ \t]*$', 1), [])
);

CREATE OR REPLACE TEMP MACRO plan_in_text(text) AS -- noqa: CP05
coalesce(
  CASE
    WHEN regexp_matches(text, '(?i)^\s*(```\w*\s*)?[\[{]|\bplan\b') THEN json_list_in(text)
  END,
  to_json(
    coalesce(
      listed_in(
        regexp_extract(
          text,
          '(?is)^(?:.*\n)?[ \t]*(?:[^\s\d*•-][^\n]*)?\bplan\b[^\n]*\n'
          '((?:.*\n)?[ \t]*(?:(?:step[ \t]+)?\d+[.):]|[-*•])[ \t]+\S.*)$',
          1
        )
      ),
      CASE
        WHEN regexp_matches(text, '(?i)^\s*((step[ \t]+)?\d+[.):]|[-*•])[ \t]+\S')
          THEN listed_in(text)
      END
    )
  )::VARCHAR
);

-- An answer of null is empty, and so are arguments whose only value is null.
CREATE OR REPLACE TEMP MACRO answer_in(arguments, result) AS -- noqa: CP05
CASE
  WHEN regexp_matches(arguments, '^(null|\{"[^"]*":null\})$') THEN NULL
  ELSE
    coalesce(
      try_cast(arguments AS JSON) ->> '$.answer',
      -- Pydantic AI returns this text for any answer tool.
      nullif(result, 'Final result processed.'),
      arguments
    )
END;
