import { eventOf, type LoggedEvent } from '../protocol/events.ts'
import type { LogRecord } from '../protocol/records.ts'

/** A recorded event, and the time that passed before it. */
export interface ReplayStep {
  readonly event: LoggedEvent
  /** Milliseconds since the previous record. */
  readonly ms: number
  /** The agent was idle or waiting for a person. */
  readonly isRest: boolean
}

/** The events of a log (for a fork, of its past and then its log), up to and including a turn. A fork continues without a pause. Pure. */
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

/** How long to wait before a step. Without a speed, pauses are shortened; idle times always are. Pure. */
export function replayPause({ ms, isRest }: Pick<ReplayStep, 'ms' | 'isRest'>, speed: number | undefined): number {
  if (speed === undefined) return Math.min(ms, longestDefaultMs)
  return speed === 0 ? 0 : (isRest ? Math.min(ms, longestRestMs) : ms) / speed
}

const mostPieces = 40

/** Splits a text at word ends into at most forty pieces. Pure. */
export function textPieces(text: string): string[] {
  const words = text.match(/\s*\S+\s*/g) ?? (text === '' ? [] : [text])
  const size = Math.ceil(words.length / mostPieces)
  const pieces: string[] = []
  for (let i = 0; i < words.length; i += size) pieces.push(words.slice(i, i + size).join(''))
  return pieces
}
