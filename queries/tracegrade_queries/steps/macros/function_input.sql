-- What a decorated function was given, as text: `{"args": […], "kwargs": {…}}` is its arguments by
-- their names where all have one, in their order where none has; `('Is it warm?',)`, as Python
-- prints its only one, is that text. Other inputs stay as they are.
CREATE OR REPLACE TEMP MACRO function_input(INPUT) AS
CASE
  WHEN regexp_matches(input, '^\((\x27(?:[^\x27\\]|\\.)*\x27|"(?:[^"\\]|\\.)*"),\)$')
    THEN python_text(input[2:-3])
  WHEN
    NOT regexp_matches(input, '^\s*\{\s*"(kw)?args"\s*:')
    OR NOT coalesce(list_sort(json_keys(try_cast(input AS JSON))) = ['args', 'kwargs'], FALSE)
    THEN input
  WHEN input::JSON ->> '$.args' = '[]' THEN input::JSON ->> '$.kwargs'
  WHEN input::JSON ->> '$.kwargs' = '{}' THEN input::JSON ->> '$.args'
  ELSE input
END;
