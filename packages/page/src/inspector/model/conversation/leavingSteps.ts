import { counted } from '../../../../../charts/src/amounts.ts'
import type { ConversationNode } from '../../../../../../src/conversation/tree/node.ts'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import type { Message, ToolResultMessage } from '../../../../../../src/protocol/messages.ts'
import { textOf, toolCallsOf } from '../../../../../../src/protocol/text/messageText.ts'
import { isEdit } from '../../../../../charts/src/text/edits.ts'
import { argumentsLine, oneLine } from '../words/shortText.ts'

/** A step that a revert or a prune takes out of the model's sight. */
export interface LeavingStep {
  readonly id: NodeId
  /** The step in words: `write_file path: "a.ts"`, or the beginning of its message. */
  readonly words: string
  /** True if one of the step's calls failed. */
  readonly isBad: boolean
}

export interface Leaving {
  /** The first steps. */
  readonly steps: readonly LeavingStep[]
  readonly total: number
  /** All steps in words: `5 steps · 2 edits, 1 failed call`. */
  readonly words: string
}

/** Lists nodes step by step: the first `most` steps in words, and a count of all. Pure. */
export function leavingSteps(nodes: readonly ConversationNode[], most: number): Leaving {
  const steps = [...Map.groupBy(nodes, ({ stepId }) => stepId)]
  const calls = nodes.flatMap(({ message }) => (message.role === 'assistant' ? toolCallsOf(message.content) : []))
  const failed = new Set(nodes.flatMap(({ message }) => (hasFailed(message) ? [message.callId] : [])))
  const edits = calls.filter(({ callId, name, input }) => !failed.has(callId) && isEdit(name, input)).length
  const failures = failed.size
  const said = nodes.filter(({ message }) => message.role === 'user').length
  const did = [
    edits > 0 ? counted(edits, 'edit') : '',
    failures > 0 ? counted(failures, 'failed call') : '',
    said > 0 ? `${counted(said, 'message')} of people` : '',
  ].filter(Boolean)
  return {
    total: steps.length,
    steps: steps.slice(0, most).map(([id, [first, ...rest]]) => ({
      id,
      words: first === undefined ? '' : wordsOf(first),
      isBad: rest.some(({ message }) => hasFailed(message)),
    })),
    words: [counted(steps.length, 'step'), did.join(', ')].filter(Boolean).join(' · '),
  }
}

const hasFailed = (message: Message): message is ToolResultMessage =>
  message.role === 'toolResult' && message.isError && message.synthetic === undefined

function wordsOf({ message }: ConversationNode): string {
  const calls = message.role === 'assistant' ? toolCallsOf(message.content) : []
  if (calls.length === 0) return oneLine(textOf(message.content), 120) || '(no text)'
  return oneLine(calls.map(({ name, input }) => `${name} ${argumentsLine(input, 60)}`).join(' · '), 120)
}
