import { isObject } from '../../protocol/checks/isObject.ts'
import type { Block, ToolResultMessage } from '../../protocol/messages.ts'
import { mediaText, providedText } from '../../protocol/text/messageText.ts'
import type { ConversationNode } from './node.ts'
import { soundName } from '../request/renderMessage.ts'

/** The tool that reads hidden steps again. */
export const recallName = 'recall'

/** Maximum nesting that is read. */
const deepest = 50

/**
 * Yields the content of a step piece by piece: the text of a reply, then each call with its arguments and its result. Recalled text is left out,
 * because it belongs to other steps.
 */
export function* piecesOf(nodes: readonly ConversationNode[]): Generator<string, void, undefined> {
  const results = new Map<string, ToolResultMessage>()
  for (const { message } of nodes) if (message.role === 'toolResult') results.set(message.callId, message)
  for (const block of nodes[0]!.message.content) {
    if (block.type === 'toolCall') {
      const { callId, name, input } = block
      yield `calls ${soundName(name)}`
      if (name === recallName) continue
      yield* fieldsOf(input)
      const result = results.get(callId)
      if (result === undefined) continue
      yield `${result.isError ? 'error' : 'result'} of ${soundName(name)}`
      for (const part of result.content) yield* saidIn(part)
    } else yield* saidIn(block)
  }
}

function* saidIn(block: Block): Generator<string, void, undefined> {
  switch (block.type) {
    case 'text':
      yield block.text
      break
    case 'image':
    case 'file':
      yield mediaText(block)
      break
    case 'provider':
      yield providedText(block)
      yield* fieldsOf(block.data)
      break
    default:
  }
}

/** Yields the values of plain JSON under their names. Strings are unchanged, because JSON escapes would break names and lines. */
function* fieldsOf(value: unknown, name = '', depth = 0): Generator<string, void, undefined> {
  const prefix = name === '' ? '' : `${name}: `
  if (!isObject(value)) {
    if (value !== undefined) yield prefix + plain(value)
  } else if (Array.isArray(value) && !value.some(isObject)) {
    yield prefix + value.map(plain).join(', ')
  } else if (depth === deepest) {
    yield `${prefix}(nested too deeply)`
  } else {
    for (const [key, field] of Object.entries(value)) {
      yield* fieldsOf(field, name === '' ? key : `${name}.${key}`, depth + 1)
    }
  }
}

const plain = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
