-- The blocks of a message of LlamaIndex, as content of the kind that block_part takes.
--
-- Some blocks leave out their kind: a thought is in `content`, a text in `text`.
CREATE OR REPLACE TEMP MACRO llama_index_content(BLOCKS) AS
to_json(
  list_transform(
    cast(blocks AS JSON[]),
    LAMBDA block: CASE
      WHEN json_exists(block, '$.tool_kwargs')
        THEN json_object(
          'type', 'tool_use',
          'id', block ->> '$.tool_call_id',
          'name', block ->> '$.tool_name',
          'input', block ->> '$.tool_kwargs'
        )
      WHEN json_type(block, '$.content') = 'VARCHAR' AND NOT json_exists(block, '$.text')
        THEN json_object('type', 'thinking', 'thinking', block ->> '$.content')
      ELSE block
    END
  )
);
