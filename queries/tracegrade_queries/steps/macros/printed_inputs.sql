-- What a user asked, out of what Python prints of it; a text of another form stays as it is.
--
-- `agno_input` reads a message of Agno's, or its content blocks alone, which are lines, and
-- `dspy_input` the first text that a module of DSPy's is given.
CREATE OR REPLACE TEMP MACRO agno_input(PRINTED) AS
CASE
  WHEN
    regexp_matches(
      printed,
      '^(id=\x27[^\x27]*\x27 role=\x27user\x27 content=)?'
      '\[\{\x27type\x27: \x27(input_)?text\x27, \x27text\x27: [\x27"]'
    )
    THEN array_to_string(
      list_transform(
        regexp_extract_all(
          printed, '\x27text\x27: (\x27(?:[^\x27\\]|\\.)*\x27|"(?:[^"\\]|\\.)*")', 1
        ),
        LAMBDA literal:
        python_text(literal)
      ),
      chr(10)
    )
  WHEN regexp_matches(printed, '^id=\x27[^\x27]*\x27 role=\x27user\x27 content=[\x27"]')
    THEN regexp_extract(
      printed, '(?s) role=\x27user\x27 content=[\x27"](.*?)[\x27"] compressed_content=', 1
    )
  ELSE printed
END;

CREATE OR REPLACE TEMP MACRO dspy_input(PRINTED) AS
if(
  regexp_matches(printed, '^\{\x27\w+\x27: [\x27"]') AND ends_with(printed, '}'),
  coalesce(
    python_text(
      nullif(
        regexp_extract(
          printed,
          '^\{\x27\w+\x27: (\x27(?:[^\x27\\]|\\.)*\x27|"(?:[^"\\]|\\.)*")[,}]',
          1
        ),
        ''
      )
    ),
    printed
  ),
  printed
);
