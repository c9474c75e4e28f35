-- Plans and answers inside of texts; NULL where there is none.
--
-- `plan_in` reads the arguments of a plan tool and `json_list_in` the JSON list that a text holds;
-- `answer_in` reads the answer from the arguments of an answer tool, else its result. (noqa: a
-- parameter is taken for a type.)
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

CREATE OR REPLACE TEMP MACRO answer_in(arguments, result) AS -- noqa: CP05
coalesce(
  try_cast(arguments AS JSON) ->> '$.answer',
  -- Pydantic AI's to any answer.
  nullif(result, 'Final result processed.'),
  arguments
);
