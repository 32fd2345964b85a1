import { charactersOf } from '../protocol/text/characters.ts'
import { cutEnd } from '../protocol/text/cutMiddle.ts'
import { withoutReordering } from '../protocol/text/withoutReordering.ts'
import type { ErrorInfo } from '../protocol/errors.ts'
import type { LastRun } from '../protocol/runs/lastRun.ts'
import type { NodeId } from '../protocol/ids.ts'
import { isWaiting, movesCall, stageAfter } from './callStage.ts'
import { foldLog, type Fold } from './fold.ts'
import { isImported } from '../protocol/text/nodeIds.ts'
import { textOf } from '../protocol/text/messageText.ts'
import type { LogRecord, RecordOf } from '../protocol/records.ts'

const maxTitle = 60
/** Maximum length of a title in UTF-16 units, since a character may have any number of combining marks. */
const maxTitleUnits = 4 * maxTitle
/** Length of the text that is examined for a title, in UTF-16 units. */
const maxRead = 4_000
const maxMessage = 300

/** Returns a text on one line, without characters that would move the cursor or reverse the order of letters. */
const onOneLine = (text: string): string =>
  withoutReordering(text.slice(0, maxRead).toWellFormed())
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()

/** Returns a text as a title: one line of at most 60 user-perceived characters. `undefined` for a blank text. */
export function titleOf(text: string): string | undefined {
  const line = onOneLine(text)
  if (line === '') return undefined
  const ends: number[] = []
  let end = 0
  for (const character of charactersOf(line)) {
    end += character.length
    if (ends.length === maxTitle || end > maxTitleUnits)
      return ends.length < 2 ? cutEnd(line, maxTitle) : `${line.slice(0, ends[ends.length - 2])}…`
    ends.push(end)
  }
  return line
}

/** Facts about an agent for lists, besides its state. They contain no text of the conversation except the title. */
export interface Outline {
  /** Title: the task from its caller, or its first prompt that no guard refused. It never changes once set. */
  title: string | undefined
  /** End of the agent's last run; `undefined` before the first end and during a run. */
  last: LastRun | undefined
  /** Start of the current run, in epoch milliseconds. */
  busySince: number | undefined
  /** Time of its last record, in epoch milliseconds. */
  activeAt: number | undefined
  /** Tokens of its last request, as counted by the model or else estimated. */
  requestTokens: number | undefined
  /** Start of each wait for people, in epoch milliseconds, by key. Waits that ended in another way may stay until the run ends. */
  asked: Map<string, number> | undefined
  /** Number of the current run's messages still to be recorded, up to and including its prompt. Context messages come first. */
  untilPrompt: number
  /** Node of the prompt from which the title was taken. */
  titleNode: NodeId | undefined
}

/** Stored form of an outline. */
export interface KeptOutline extends Partial<Omit<Outline, 'asked'>> {
  readonly asked: readonly (readonly [string, number])[]
}

const nothingSaid = (): Outline => ({
  title: undefined,
  last: undefined,
  busySince: undefined,
  activeAt: undefined,
  requestTokens: undefined,
  asked: undefined,
  untilPrompt: 0,
  titleNode: undefined,
})

/** Fold over the shared past of a fork and then its own log. Changes the outline in place. */
export const outlineFold: Fold<Outline, KeptOutline> = {
  name: 'outline',
  initial: nothingSaid,
  keep: (outline) => ({ ...outline, asked: [...(outline.asked ?? [])] }),
  resume: (kept) => ({ ...nothingSaid(), ...kept, asked: kept.asked.length === 0 ? undefined : new Map(kept.asked) }),
  on: {
    // Of its past a fork keeps what it is about, unless a call gave it a task of its own.
    'agent.created'(outline, { parent, title = parent?.callId === undefined ? outline.title : undefined }) {
      if (title !== outline.title) outline.titleNode = undefined
      outline.title = title
      outline.last = outline.busySince = outline.requestTokens = undefined
      outline.untilPrompt = 0
    },
    'run.start'(outline, { messages = 1, time }) {
      outline.untilPrompt = messages
      outline.busySince = time
      outline.last = undefined
    },
    'message.added'(outline, record) {
      if (!isImported(record)) outline.untilPrompt -= 1
      if (outline.untilPrompt > 0 || outline.title !== undefined) return
      outline.title = titleOf(textOf(record.message.content))
      outline.titleNode = record.nodeId
    },
    'guard.decided'(outline, { withheld }) {
      if (withheld?.includes(outline.titleNode!) === true) outline.title = outline.titleNode = undefined
    },
    'reply.end'(outline, { message, estimatedTokens }) {
      const { input, cacheRead, cacheWrite } = message.usage
      const used = input + cacheRead + cacheWrite || estimatedTokens
      if (used > 0) outline.requestTokens = used
    },
    'run.end'(outline, record) {
      if (record.stopReason !== 'paused') outline.asked = undefined
      outline.busySince = undefined
      outline.last = lastOf(record)
    },
    'run.abandoned'(outline, { time }) {
      outline.last = { stopReason: 'aborted', at: time }
    },
  },
  each(outline, record) {
    outline.activeAt = record.time
    if (!movesCall(record)) return
    if (isWaiting(stageAfter(record))) (outline.asked ??= new Map()).set(record.key, record.time)
    else outline.asked?.delete(record.key)
  },
}

function lastOf({ stopReason, time: at, error, reason }: RecordOf<'run.end'>): LastRun {
  return {
    stopReason,
    at,
    ...(error === undefined ? {} : { error: shortError(error) }),
    // With another end it is the limit after which the run was to answer.
    ...(reason === undefined || stopReason !== 'paused' ? {} : { reason }),
  }
}

const shortError = ({ code, message }: ErrorInfo): ErrorInfo => ({
  code,
  message: cutEnd(onOneLine(message), maxMessage),
})

/** Returns the outline of a log. `past`: the records that a fork shares with its sources. */
export const outlineOf = (records: Iterable<LogRecord>, past: Iterable<LogRecord> = []): Outline =>
  foldLog(outlineFold, past, records)
