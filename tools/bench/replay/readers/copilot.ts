import type { Block } from '../../../../src/index.ts'
import type { RecordedSession } from '../recordedSession.ts'
import { SessionDraft } from './sessionDraft.ts'
import { argumentsOf, asText, isObject, type Json, listOf, objectOf, text, textOf, timeOf } from './shapes.ts'

const isEvent = (line: unknown): line is Json =>
  isObject(line) && isObject(line['data']) && /^(?:session|system|user|assistant|tool)\.\w/.test(textOf(line['type']))

/** Sessions of the Copilot CLI (`events.jsonl`): events with `data`, such as `user.message` and `tool.execution_complete`. */
export const isCopilot = (lines: readonly unknown[]): boolean => lines.some(isEvent)

/** Sub-agents (events with a `parentToolCallId`) and pieces of replies are left out. */
export function readCopilot(lines: readonly unknown[], name: string): RecordedSession {
  const draft = new SessionDraft('Copilot CLI session')
  const called = new Set<string>()
  const prompts = new Set<unknown>()
  let isReplying = false
  for (const { type, data: given, timestamp } of lines.filter(isEvent)) {
    draft.at(timeOf(timestamp))
    const data = objectOf(given)
    const callId = textOf(data['toolCallId'])
    if (textOf(data['parentToolCallId']) !== '') draft.note('messages of sub-agents were left out')
    else if (type === 'system.message') {
      // It comes again whenever the session is gone on with.
      if (!prompts.has(data['content'])) draft.system(textOf(data['content']))
      prompts.add(data['content'])
    } else if (type === 'user.message') {
      isReplying = false
      draft.user([text(textOf(data['content']))])
    } else if (type === 'assistant.message') {
      isReplying = true
      const calls = listOf(data['toolRequests']).map((request) => callOf(objectOf(request)))
      for (const call of calls) called.add(call.callId)
      draft.reply([{ type: 'thinking', text: textOf(data['reasoningText']) }, text(textOf(data['content'])), ...calls])
    } else if (type === 'tool.execution_start' && !called.has(callId)) {
      // Some versions tell of calls only as they are run.
      called.add(callId)
      const call = [callOf({ ...data, name: data['toolName'] })]
      if (isReplying) draft.more(call)
      else draft.reply(call)
      isReplying = true
    } else if (type === 'tool.execution_complete') {
      isReplying = false
      const { result, error, success } = data
      const said = isObject(result) ? (result['content'] ?? result['detailedContent']) : result
      const failed = objectOf(error)['message'] ?? error
      draft.result(callId, [text(asText(said ?? failed))], success === false)
    } else if (type === 'session.compaction_complete')
      draft.note('compactions were left out: what they replaced is replayed')
  }
  return draft.finish(name)
}

const callOf = ({ toolCallId, name, arguments: given }: Json): Extract<Block, { type: 'toolCall' }> => ({
  type: 'toolCall',
  callId: textOf(toolCallId),
  name: textOf(name),
  input: argumentsOf(given),
})
