-- Whether a text is Python's representation of an object, such as a stream that was not read.
CREATE OR REPLACE TEMP MACRO is_printed_object(TEXT) AS
regexp_matches(
  text,
  '^<[^<>\n]* object[^<>\n]* at 0x[0-9a-fA-F]+>$'
  '|^(ChatCompletion|ChatCompletionChunk|Completion|Response|Message|ModelResponse'
  '|GenerateContentResponse|AIMessage|AIMessageChunk)\((id|choices|candidates|content)='
);
