import { checkRequest } from '../conversation/request/checkRequest.ts'
import { type CheckedHistoryMessage, wrongHistory } from '../protocol/history.ts'
import { importedRunId } from '../protocol/text/nodeIds.ts'
import { noUsage, toolCallsOf } from '../protocol/messages.ts'
import type { RequestMessage } from '../protocol/ports/model.ts'
import { recordVersion, type LogRecord, type RecordOf } from '../protocol/records.ts'

/** Content of an empty result. */
const noOutput = { type: 'text', text: '(no output)' } as const

/**
 * Rules for requests that a history need not follow: it ends before the next message, people's messages are merged
 * later, and other faults are repaired when a request is made.
 */
const rulesOfRequests: readonly number[] = [4, 9, 10, 11, 12, 13]

/**
 * Checks that every provider would accept a history.
 * @throws RuntimeError `INVALID_OPTION`, naming the message by its index
 */
export function checkHistory(messages: readonly CheckedHistoryMessage[]): void {
  if (messages.length === 0) return
  const asked = messages.map((message): RequestMessage =>
    message.role === 'toolResult' ? { isError: false, ...message, content: [noOutput, ...message.content] } : message,
  )
  const request = { system: '', messages: asked, tools: [], settings: {} }
  const violation = checkRequest(request).find(({ rule }) => !rulesOfRequests.includes(rule))
  if (violation !== undefined) throw wrongHistory(violation.message)
  const second = messages.findIndex(({ role }, index) => role === 'assistant' && messages[index - 1]?.role === role)
  if (second > 0) throw wrongHistory(`messages ${second - 1} and ${second} are both assistant: join them`)
  const names = new Map<string, string>()
  for (const [index, message] of messages.entries()) {
    if (message.role === 'assistant')
      for (const { callId, name } of toolCallsOf(message.content)) names.set(callId, name)
    if (message.role !== 'toolResult' || names.get(message.callId) === message.toolName) continue
    const called = names.get(message.callId)
    throw wrongHistory(
      `message ${index} is a result of "${message.toolName}", but "${message.callId}" calls "${called}"`,
    )
  }
}

/**
 * Returns the log of an agent that begins with messages from another system: a first record with their number, and a
 * record for each. The messages must have passed `checkHistory`. Pure.
 */
export function historyRecords(
  created: Omit<RecordOf<'agent.created'>, 'v' | 'seq' | 'time' | 'type' | 'imported'>,
  messages: readonly CheckedHistoryMessage[],
  time: number,
): LogRecord[] {
  const { agentId } = created
  const runId = importedRunId(agentId)
  const first = {
    v: recordVersion,
    seq: 1,
    time,
    type: 'agent.created',
    ...created,
    imported: messages.length,
  } as const
  // A result has the place of its call, whatever order results came in.
  const places = new Map<string, number>()
  let lastNodeId = 0
  const records = messages.map((message, index): LogRecord => {
    const nodeId = message.role === 'toolResult' ? places.get(message.callId)! : lastNodeId + 1
    const parentId = nodeId === 1 ? null : nodeId - 1
    lastNodeId = Math.max(lastNodeId, nodeId)
    const base = { v: recordVersion, seq: index + 2, time, runId, turnIndex: 0, nodeId, parentId } as const
    switch (message.role) {
      case 'user': {
        const said = {
          role: 'user',
          content: message.content,
          source: 'prompt',
          provenance: { type: 'imported' },
        } as const
        return { ...base, type: 'message.added', message: said }
      }
      case 'assistant': {
        const { content, model = 'unknown' } = message
        const calls = toolCallsOf(content)
        for (const [at, { callId }] of calls.entries()) places.set(callId, nodeId + 1 + at)
        const stopReason = calls.length > 0 ? 'toolUse' : 'stop'
        const reply = { role: 'assistant', content, stopReason, usage: noUsage, model } as const
        return { ...base, type: 'reply.end', message: reply, costUsd: 0, estimatedTokens: 0 }
      }
      case 'toolResult': {
        const { callId, toolName: name, isError = false } = message
        const result = { role: 'toolResult', callId, toolName: name, content: message.content, isError } as const
        return { ...base, type: 'tool.end', callId, key: `${runId}/tool/${callId}`, name, message: result }
      }
    }
  })
  return [first, ...records]
}
