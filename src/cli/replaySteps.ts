import { eventOf, type LoggedEvent } from '../protocol/events.ts'
import type { LogRecord } from '../protocol/records.ts'

/** A recorded event, and the time that passed before it. */
export interface ReplayStep {
  readonly event: LoggedEvent
  /** Milliseconds since the record before. */
  readonly ms: number
  /** Nothing was under way, or it waited for a person. */
  readonly isRest: boolean
}

/** What a log, or a fork's past and then its log, tells, up to and with a turn; a fork goes on at once. Pure. */
export function* replaySteps(records: Iterable<LogRecord>, upTo = Infinity): Generator<ReplayStep, void, undefined> {
  let agentId = ''
  let path: readonly string[] = []
  let last: number | undefined
  let isAtWork = false
  let isAsked = false
  for (const record of records) {
    if ('turnIndex' in record && record.turnIndex > upTo) return
    if (record.type === 'agent.created') {
      agentId = record.agentId
      path = record.path
      last = undefined
      isAtWork = false
    }
    yield {
      event: eventOf(record, { agentId, path }),
      ms: last === undefined ? 0 : Math.max(0, record.time - last),
      isRest: !isAtWork || isAsked,
    }
    last = record.time
    if (record.type === 'run.start') isAtWork = true
    else if (record.type === 'run.end') isAtWork = false
    isAsked = record.type === 'approval.requested'
  }
}

const longestDefaultMs = 400
const longestRestMs = 1000

/** How long a replay waits before a step; without a speed no pause is long. Times at rest are never played in full. Pure. */
export function replayPause({ ms, isRest }: Pick<ReplayStep, 'ms' | 'isRest'>, speed: number | undefined): number {
  if (speed === undefined) return Math.min(ms, longestDefaultMs)
  return speed === 0 ? 0 : (isRest ? Math.min(ms, longestRestMs) : ms) / speed
}

const mostPieces = 40

/** A text in at most forty pieces that end with words, to be written one after the other. Pure. */
export function textPieces(text: string): string[] {
  const words = text.match(/\s*\S+\s*/g) ?? (text === '' ? [] : [text])
  const size = Math.ceil(words.length / mostPieces)
  const pieces: string[] = []
  for (let i = 0; i < words.length; i += size) pieces.push(words.slice(i, i + size).join(''))
  return pieces
}
