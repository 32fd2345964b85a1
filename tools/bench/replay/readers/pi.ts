import type { Block, PlainBlock } from '../../../../src/index.ts'
import type { RecordedSession } from '../recordedSession.ts'
import { SessionDraft } from './sessionDraft.ts'
import { asText, imageOf, isObject, type Json, listOf, numberOf, objectOf, text, textOf, timeOf } from './shapes.ts'

/** Session files of pi: a `session` line, then `message` lines of the roles `user`, `assistant` and `toolResult`. */
export const isPi = ([first]: readonly unknown[]): boolean =>
  isObject(first) && first['type'] === 'session' && 'cwd' in first

export function readPi(lines: readonly unknown[], name: string): RecordedSession {
  const draft = new SessionDraft('pi session')
  for (const line of lastBranch(lines.filter(isObject))) {
    // The first line of a branch was written after what the branch goes on from.
    if (line['type'] !== 'session') draft.at(timeOf(line['timestamp']))
    if (line['type'] === 'message') readMessage(draft, objectOf(line['message']))
    else if (line['type'] === 'compaction') draft.note('compactions were left out: what they replaced is replayed')
  }
  return draft.finish(name)
}

/** Newer files are trees: what leads to the last line. Older ones have no ids. */
function lastBranch(lines: readonly Json[]): readonly Json[] {
  const last = lines.findLast(({ type }) => type === 'message')
  if (last?.['id'] === undefined || !('parentId' in last)) return lines
  const byId = new Map(lines.map((line) => [line['id'], line]))
  const branch: Json[] = []
  for (let line: Json | undefined = last; line !== undefined; line = byId.get(line['parentId'])) {
    branch.push(line)
    // Of a damaged file: nothing may lead round in a circle.
    byId.delete(line['id'])
  }
  return branch.toReversed()
}

function readMessage(draft: SessionDraft, message: Json): void {
  const { role, content } = message
  if (role === 'user') draft.user(plainBlocks(content))
  else if (role === 'bashExecution')
    draft.user([text(`Ran \`${textOf(message['command'])}\`\n${textOf(message['output'])}`)])
  else if (role === 'toolResult')
    draft.result(textOf(message['toolCallId']), plainBlocks(content), message['isError'] === true)
  else if (role === 'assistant') {
    const { stopReason } = message
    if (stopReason === 'aborted' || stopReason === 'error') return draft.note('replies that were cut off were left out')
    const { input, cacheRead, cacheWrite } = objectOf(message['usage'])
    draft.reply(listOf(content).map(blockOf), numberOf(input) + numberOf(cacheRead) + numberOf(cacheWrite))
  }
}

const plainBlocks = (content: unknown): PlainBlock[] =>
  typeof content === 'string'
    ? [text(content)]
    : listOf(content).map((value) => {
        const block = objectOf(value)
        return block['type'] === 'image'
          ? imageOf(textOf(block['data']), textOf(block['mimeType']))
          : text(asText(block['text'] ?? block))
      })

function blockOf(value: unknown): Block {
  const block = objectOf(value)
  if (block['type'] === 'toolCall')
    return {
      type: 'toolCall',
      callId: textOf(block['id']),
      name: textOf(block['name']),
      input: block['arguments'] ?? {},
    }
  if (block['type'] === 'thinking') return { type: 'thinking', text: textOf(block['thinking']) }
  return text(asText(block['text'] ?? block))
}
