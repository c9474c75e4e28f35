-- The user's request as text: content blocks in JSON become lines; other text is unchanged.
CREATE OR REPLACE TEMP MACRO prompt_text(PROMPT) AS
if(regexp_matches(prompt, '^\[\{"type":\s*"(input_)?text"'), result_text(prompt), prompt);
