/** Ids of AG-UI events and messages. They are derived, so that a snapshot matches what was streamed. */

/** Message id of a turn's reply. */
export const replyMessageId = (agentId: string, turnIndex: number): string => `${agentId}/t${turnIndex}`

/** Message id of a reply's thinking; each attempt at the reply has its own. */
export const thinkingMessageId = (reply: string, attempt = 1): string =>
  `${reply}/thinking${attempt === 1 ? '' : `~${attempt}`}`

/** Id of a tool call; calls of sub-agents carry the agent's id. */
export const toolCallIdOf = (rootId: string, agentId: string, callId: string): string =>
  agentId === rootId ? callId : `${agentId}/${callId}`

/** Message id of a tool result. */
export const resultMessageId = (agentId: string, turnIndex: number, callId: string): string =>
  `${replyMessageId(agentId, turnIndex)}/${callId}`

/** Id of the interrupt of a paused run. */
export const pauseInterruptId = (agentId: string): string => `${agentId}/pause`

/**
 * Returns the request id of a run in the log. A `runId` may be any text; the prefix keeps it apart from the ids of the
 * bridge's commands, which start with a session id.
 */
export const requestIdOf = (runId: string): string => `ag-ui:${runId}`
