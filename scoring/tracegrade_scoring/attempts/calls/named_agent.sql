-- The agent named by a hand-off, or by an agent called as a tool: `transfer_to_x`, `handoff to X`
-- and `x` name one. NULL for NULL.
CREATE OR REPLACE TEMP MACRO named_agent(NAME) AS
regexp_replace(
  regexp_replace(
    lower(name),
    '^(mcp__.+?__)?(handoff-)?(transfer|hand_?off|delegate)[_ -](back[_ -])?to[_ -]',
    ''
  ),
  '[^\pL\pN]+', '_', 'g'
);
