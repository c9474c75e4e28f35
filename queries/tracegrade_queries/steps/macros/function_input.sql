-- The input of a decorated function, as text.
--
-- `{"args": […], "kwargs": {…}}` becomes the arguments by their names if all have one, or in their
-- order if none has. `('Is it warm?',)`, a single argument as Python prints it, becomes that text.
-- Other inputs are returned unchanged.
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
