import type { Block, PlainBlock } from '../../../../src/index.ts'
import type { RecordedSession } from '../recordedSession.ts'
import { SessionDraft } from './sessionDraft.ts'
import { asText, imageOf, isObject, type Json, listOf, numberOf, objectOf, text, textOf, timeOf } from './shapes.ts'

/** Session files of Claude Code: `user` and `assistant` lines with a `sessionId`, whose results stand in user messages. */
export const isClaudeCode = (lines: readonly unknown[]): boolean =>
  lines.some(
    (line) =>
      isObject(line) &&
      (line['type'] === 'user' || line['type'] === 'assistant') &&
      'message' in line &&
      'sessionId' in line,
  )

/** Sub-agents (`isSidechain`) and lines that only the program reads are left out. */
export function readClaudeCode(lines: readonly unknown[], name: string): RecordedSession {
  const draft = new SessionDraft('Claude Code session')
  const seen = new Set<string>()
  if (goesOn(lines.filter(isObject))) draft.isResumed(usualFrame)
  for (const line of lines.filter(isObject)) {
    const message = objectOf(line['message'])
    const uuid = textOf(line['uuid'])
    if (uuid !== '' && seen.has(uuid)) continue
    seen.add(uuid)
    draft.at(timeOf(line['timestamp']))
    if (line['isSidechain'] === true) draft.note('messages of sub-agents were left out')
    else if (line['isApiErrorMessage'] === true) draft.note('replies that were errors of the program were left out')
    else if (line['isCompactSummary'] === true) draft.note('compactions were left out: what they replaced is replayed')
    else if (line['type'] === 'user') readUser(draft, message)
    else if (line['type'] === 'assistant') readReply(draft, message, seen)
  }
  return draft.finish(name)
}

/** Tokens of the system prompt and tools of Claude Code in the middle of 163 sessions. */
const usualFrame = 42_000

/** Returns true if the first message follows one that is not in the file, or is a summary of such. */
function goesOn(lines: readonly Json[]): boolean {
  const first = lines.find(({ type, isSidechain }) => (type === 'user' || type === 'assistant') && isSidechain !== true)
  const parent = first?.['parentUuid']
  if (first?.['isCompactSummary'] === true) return true
  return typeof parent === 'string' && !lines.some(({ uuid }) => uuid === parent)
}

function readUser(draft: SessionDraft, { content }: Json): void {
  const said: PlainBlock[] = []
  for (const value of typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)) {
    const block = objectOf(value)
    if (block['type'] === 'tool_result')
      draft.result(textOf(block['tool_use_id']), plainBlocks(block['content']), block['is_error'] === true)
    else said.push(plainBlock(block))
  }
  draft.user(said)
}

/** Each block of a reply is a line of its own, with the same message id. */
function readReply(draft: SessionDraft, message: Json, seen: Set<string>): void {
  const {
    input_tokens: fresh,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
  } = objectOf(message['usage'])
  const id = textOf(message['id'])
  const isNext = id !== '' && seen.has(`reply ${id}`)
  seen.add(`reply ${id}`)
  const content = listOf(message['content']).map(blockOf)
  if (isNext) draft.more(content)
  else draft.reply(content, numberOf(fresh) + numberOf(written) + numberOf(read))
}

const plainBlocks = (content: unknown): PlainBlock[] =>
  typeof content === 'string' ? [text(content)] : listOf(content).map((block) => plainBlock(objectOf(block)))

function plainBlock(block: Json): PlainBlock {
  if (block['type'] !== 'image') return text(asText(block['text'] ?? block))
  const { data, media_type: mimeType, url } = objectOf(block['source'])
  return imageOf(textOf(data ?? url), textOf(mimeType))
}

function blockOf(value: unknown): Block {
  const block = objectOf(value)
  if (block['type'] === 'tool_use')
    return { type: 'toolCall', callId: textOf(block['id']), name: textOf(block['name']), input: block['input'] ?? {} }
  if (block['type'] === 'thinking') return { type: 'thinking', text: textOf(block['thinking']) }
  return text(asText(block['text'] ?? block))
}
