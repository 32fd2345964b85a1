/** Ids that AG-UI events and messages carry: the same whenever they are derived, so that a snapshot fits what was streamed. */

/** Of the reply of a turn: a turn has one. */
export const replyMessageId = (agentId: string, turnIndex: number): string => `${agentId}/t${turnIndex}`

/** Of what the model thought in it; another attempt at the reply is another message. */
export const thinkingMessageId = (reply: string, attempt = 1): string =>
  `${reply}/thinking${attempt === 1 ? '' : `~${attempt}`}`

/** Of a tool call: those of sub-agents are told apart by whose they are. */
export const toolCallIdOf = (rootId: string, agentId: string, callId: string): string =>
  agentId === rootId ? callId : `${agentId}/${callId}`

/** Of a tool's answer. */
export const resultMessageId = (agentId: string, turnIndex: number, callId: string): string =>
  `${replyMessageId(agentId, turnIndex)}/${callId}`

/** Of the question whether a paused run shall go on. */
export const pauseInterruptId = (agentId: string): string => `${agentId}/pause`

/**
 * What the log knows a run by. A runId may be any text: with its mark it is never the id of a command of the bridge, which begins
 * with a session's.
 */
export const requestIdOf = (runId: string): string => `ag-ui:${runId}`
