import type { Block, PlainBlock } from '../../../../src/index.ts'
import type { RecordedSession } from '../recordedSession.ts'
import { SessionDraft } from './sessionDraft.ts'
import {
  argumentsOf,
  asText,
  imageOf,
  isObject,
  type Json,
  listOf,
  numberOf,
  objectOf,
  text,
  textOf,
  timeOf,
} from './shapes.ts'

const lineTypes = new Set(['session_meta', 'response_item', 'event_msg', 'turn_context', 'compacted'])
const replyTypes = new Set(['reasoning', 'function_call', 'custom_tool_call', 'local_shell_call'])

const isWrapped = (line: unknown): boolean => isObject(line) && 'payload' in line && lineTypes.has(textOf(line['type']))

/** Rollouts of Codex: lines with a `payload`, of which `response_item` is the conversation; older ones are the items alone. */
export const isCodex = (lines: readonly unknown[]): boolean =>
  lines.some(isWrapped) ||
  lines.some(
    (line) => isObject(line) && replyTypes.has(textOf(line['type'])) && ('call_id' in line || 'summary' in line),
  )

export function readCodex(lines: readonly unknown[], name: string): RecordedSession {
  const draft = new SessionDraft('Codex rollout')
  const isOld = !lines.some(isWrapped)
  const [firstInput] = lines.flatMap(inputOf)
  let isReplying = false
  const say = (blocks: readonly Block[]): void => {
    if (isReplying) draft.more(blocks)
    else draft.reply(blocks, firstInput)
    isReplying = true
  }
  for (const line of lines.filter(isObject)) {
    const payload = isOld ? line : objectOf(line['payload'])
    draft.at(timeOf(line['timestamp']))
    if (line['type'] === 'session_meta' || (isOld && 'instructions' in line)) draft.system(instructionsOf(payload))
    else if (line['type'] === 'compacted') draft.note('compactions were left out: what they replaced is replayed')
    else if (isOld || line['type'] === 'response_item') {
      const blocks = replyOf(payload)
      if (blocks !== undefined) {
        if (blocks.length > 0) say(blocks)
      } else {
        if (readOther(draft, payload)) isReplying = false
      }
    }
  }
  return draft.finish(name)
}

const instructionsOf = ({ base_instructions: base, instructions }: Json): string =>
  textOf(objectOf(base)['text']) || textOf(base) || textOf(instructions)

/** The tokens of a request, where a line tells them. */
function inputOf(line: unknown): number[] {
  const { type, info } = objectOf(objectOf(line)['payload'])
  const input = type === 'token_count' ? objectOf(objectOf(info)['last_token_usage'])['input_tokens'] : undefined
  return input === undefined ? [] : [numberOf(input)]
}

/** The blocks that an item adds to a reply; `undefined` if it is something else. */
function replyOf(item: Json): Block[] | undefined {
  const callId = textOf(item['call_id']) || textOf(item['id'])
  switch (item['type']) {
    case 'message':
      return item['role'] === 'assistant' ? plainBlocks(item['content']) : undefined
    case 'reasoning': {
      const words = [...listOf(item['summary']), ...listOf(item['content'])].map((part) =>
        textOf(objectOf(part)['text']),
      )
      return words.join('') === '' ? [] : [{ type: 'thinking', text: words.join('\n') }]
    }
    case 'function_call':
      return [{ type: 'toolCall', callId, name: textOf(item['name']), input: argumentsOf(item['arguments']) }]
    case 'custom_tool_call':
      return [{ type: 'toolCall', callId, name: textOf(item['name']), input: { input: item['input'] } }]
    case 'local_shell_call':
      return [{ type: 'toolCall', callId, name: 'local_shell', input: objectOf(item['action']) }]
    default:
      return undefined
  }
}

/** Reads what is no part of a reply; whether a reply before it is over. */
function readOther(draft: SessionDraft, item: Json): boolean {
  const { type, role, content, output } = item
  if (type === 'message') {
    if (role === 'user') draft.user(plainBlocks(content))
    else
      draft.system(
        plainBlocks(content)
          .map((block) => (block.type === 'text' ? block.text : ''))
          .join('\n'),
      )
    return true
  }
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    const { blocks, isError } = resultOf(output)
    draft.result(textOf(item['call_id']), blocks, isError)
    return true
  }
  if (type === 'web_search_call') draft.note('searches that the provider ran were left out')
  return false
}

/** An output is a text, JSON with an exit code in a text, parts, or an object with parts. */
function resultOf(output: unknown): { readonly blocks: readonly PlainBlock[]; readonly isError: boolean } {
  const whole = objectOf(typeof output === 'string' && output.startsWith('{') ? argumentsOf(output) : output)
  const said = whole['output'] ?? whole['content'] ?? output
  const exitCode = objectOf(whole['metadata'])['exit_code']
  return {
    blocks: plainBlocks(said),
    isError: whole['success'] === false || (typeof exitCode === 'number' && exitCode !== 0),
  }
}

const plainBlocks = (content: unknown): PlainBlock[] =>
  Array.isArray(content)
    ? content.map((value) => {
        const part = objectOf(value)
        const url = textOf(part['image_url'])
        return url === '' ? text(asText(part['text'] ?? part)) : imageOf(url)
      })
    : [text(asText(content))]
