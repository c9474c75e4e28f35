-- What a user asked as text: content blocks as JSON in its place are lines, all else is as it was
-- sent.
CREATE OR REPLACE TEMP MACRO prompt_text(PROMPT) AS
if(regexp_matches(prompt, '^\[\{"type":\s*"(input_)?text"'), result_text(prompt), prompt);
