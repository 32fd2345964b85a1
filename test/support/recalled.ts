import { recall, type Recalled, type RecallRequest } from '../../src/conversation/brakes/recall/recall.ts'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import { BrakeLog } from './brakeLog.ts'
import { assert } from './assert.ts'

/** The whole answer to a request. */
export function askRecall(conversation: Conversation, request: RecallRequest): Recalled {
  const search = recall(conversation, request)
  for (;;) {
    const next = search.next()
    if (next.done === true) return next.value
  }
}

/** The text of an answer that is no refusal. */
export const answered = (log: BrakeLog, request: RecallRequest): string => {
  const { text, isError } = askRecall(log.conversation, request)
  assert.is(isError, false, text)
  return text
}

/** The text of a refusal. */
export const refused = (log: BrakeLog, request: RecallRequest): string => {
  const { text, isError } = askRecall(log.conversation, request)
  assert.is(isError, true, text)
  return text
}

/** A conversation whose steps with these outputs are hidden; they are n2, n4, … */
export function hiding(...outputs: readonly string[]): BrakeLog {
  const log = new BrakeLog()
  log.user('go')
  const ids = outputs.map((output) => log.step([{ output }]))
  log.step([{ output: 'last' }])
  log.prune({ steps: ids.map((id) => `n${id}`) })
  return log
}

/** Text of `count` lines. */
export const numbered = (count: number, line: (n: number) => string = (n) => `line ${n}`): string =>
  Array.from({ length: count }, (_, n) => line(n + 1)).join('\n')
