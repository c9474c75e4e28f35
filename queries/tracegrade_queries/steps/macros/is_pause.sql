-- Whether a framework pauses with an exception of this class, in any module.
CREATE OR REPLACE TEMP MACRO is_pause(ERROR_TYPE) AS
coalesce(
  regexp_matches(
    error_type,
    '(^|\.)(GraphInterrupt|NodeInterrupt|NodeInterruptedError|InterruptException|GenkitInterrupt'
    || '|ToolInterruptError|ApprovalRequired|CallDeferred|WaitingForEvent'
    || '|UserInputRequiredException|HumanFeedbackPending|SuspendedException'
    || '|(HITL|Pipeline)?BreakpointException)$'
  ),
  FALSE
);
