import type { Block, PlainBlock } from '../../../../src/index.ts'
import type { RecordedSession } from '../recordedSession.ts'
import { SessionDraft } from './sessionDraft.ts'
import { asText, imageOf, isObject, type Json, listOf, numberOf, objectOf, text, textOf, timeOf } from './shapes.ts'

/** Exports of OpenCode: one object with `info` and `messages`, each with its own `info` and `parts`. */
export const isOpenCode = (value: unknown): value is Json =>
  isObject(value) &&
  isObject(value['info']) &&
  listOf(value['messages']).length > 0 &&
  listOf(value['messages']).every((message) => isObject(message) && isObject(message['info']) && 'parts' in message)

export function readOpenCode(value: Json, name: string): RecordedSession {
  const draft = new SessionDraft('OpenCode export')
  const callIds: CallIds = new Map()
  for (const message of listOf(value['messages']).map(objectOf)) {
    const info = objectOf(message['info'])
    const parts = listOf(message['parts']).map(objectOf)
    draft.at(timeOf(objectOf(info['time'])['created']))
    if (info['role'] === 'user') {
      draft.system(textOf(info['system']))
      draft.user(parts.flatMap(said))
    } else readReplies(draft, info, parts, callIds)
    if (info['summary'] === true) draft.note('compactions were left out: what they replaced is replayed')
  }
  return draft.finish(name)
}

/** The words of a person. Notes of the program that the model does not get are `ignored`. */
function said({ type, text: words, ignored, mime, url, filename }: Json): PlainBlock[] {
  if (type === 'text') return ignored === true ? [] : [text(textOf(words))]
  if (type !== 'file') return []
  return textOf(mime).startsWith('image/')
    ? [imageOf(textOf(url), textOf(mime))]
    : [text(`(a file: ${textOf(filename)})`)]
}

/** A message is a reply, in older versions several: apart where a step begins. */
function readReplies(draft: SessionDraft, info: Json, parts: readonly Json[], callIds: CallIds): void {
  const { input, cache } = objectOf(info['tokens'])
  const { read, write } = objectOf(cache)
  let step: Json[] = []
  const finish = (): void => {
    draft.reply(
      step.flatMap((part) => blockOf(part, callIds)),
      numberOf(input) + numberOf(read) + numberOf(write),
    )
    for (const part of step) readResult(draft, part, callIds)
    step = []
  }
  for (const part of parts) {
    if (part['type'] === 'step-start') finish()
    step.push(part)
  }
  finish()
}

/** The ids of calls, by their parts: in shared exports some are blanked out, and then all the same. */
type CallIds = Map<Json, string>

function callIdOf(part: Json, callIds: CallIds): string {
  const known = callIds.get(part)
  if (known !== undefined) return known
  const given = textOf(part['callID']) || 'call'
  const taken = new Set(callIds.values())
  let callId = given
  for (let again = 2; taken.has(callId); again += 1) callId = `${given}-${again}`
  callIds.set(part, callId)
  return callId
}

function blockOf(part: Json, callIds: CallIds): Block[] {
  if (part['type'] === 'text') return [text(textOf(part['text']))]
  if (part['type'] === 'reasoning') return [{ type: 'thinking', text: textOf(part['text']) }]
  if (part['type'] !== 'tool') return []
  const input = objectOf(part['state'])['input'] ?? {}
  return [{ type: 'toolCall', callId: callIdOf(part, callIds), name: textOf(part['tool']), input }]
}

function readResult(draft: SessionDraft, part: Json, callIds: CallIds): void {
  const { status, output, error, attachments, time } = objectOf(part['state'])
  if (part['type'] !== 'tool' || (status !== 'completed' && status !== 'error')) return
  draft.at(timeOf(objectOf(time)['end']))
  const files = listOf(attachments).flatMap((file) => said({ ...objectOf(file), type: 'file' }))
  draft.result(
    callIdOf(part, callIds),
    [text(asText(status === 'error' ? error : output)), ...files],
    status === 'error',
  )
}
