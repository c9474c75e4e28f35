-- What a user asked as text: content blocks as JSON in its place are lines, all else is as it was
-- sent.
CREATE OR REPLACE TEMP MACRO prompt_text(ASKED) AS
if(regexp_matches(asked, '^\[\{"type":\s*"(input_)?text"'), result_text(asked), asked);
