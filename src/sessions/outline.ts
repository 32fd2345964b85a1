import { charactersOf } from '../conversation/characters.ts'
import { cutEnd } from '../conversation/cutMiddle.ts'
import { withoutReordering } from '../conversation/withoutReordering.ts'
import type { ErrorInfo } from '../protocol/errors.ts'
import type { LastRun } from '../protocol/frames.ts'
import type { NodeId } from '../protocol/ids.ts'
import { isWaiting, movesCall, stageAfter } from '../log/callStage.ts'
import { isImported } from '../protocol/imported.ts'
import { textOf } from '../protocol/messageText.ts'
import type { LogRecord, RecordOf } from '../protocol/records.ts'

const maxTitle = 60
/** In UTF-16 units: a character may have any number of combining marks. */
const maxTitleUnits = 4 * maxTitle
/** How much of a text is looked at for a title, in UTF-16 units. */
const maxRead = 4_000
const maxMessage = 300

/** A text on one line, without what would move the cursor or turn the order of letters. */
const onOneLine = (text: string): string =>
  withoutReordering(text.slice(0, maxRead).toWellFormed())
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()

/** A text as a title: one line of at most 60 characters as people count them; `undefined` if it says nothing. */
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

/** What is kept of an outline. */
export interface KeptOutline extends Partial<Omit<Outline, 'asked' | 'keep' | 'apply'>> {
  readonly asked: readonly (readonly [string, number])[]
}

/** What a list says of an agent beside its state, folded from its log. It keeps a few values, and none of what was said but the title. */
export class Outline {
  /** The task that its caller gave it, or its first prompt that no guard refused. Once set it stays. */
  title: string | undefined
  /** How its last run ended; `undefined` before the first end and while a run is under way. */
  last: LastRun | undefined
  /** When the run under way began, in epoch milliseconds. */
  busySince: number | undefined
  /** When its last record was written, in epoch milliseconds. */
  activeAt: number | undefined
  /** Tokens of its last request, as the model counted them, or else as they were estimated. */
  requestTokens: number | undefined
  /** Since when what waits for people does, in epoch milliseconds by its key; what was answered otherwise may stay until the run ends. */
  readonly asked: Map<string, number>
  /** How many messages come until the prompt of the run that has begun: those of its context go before it. */
  untilPrompt = 0
  /** The prompt that is the title. */
  titleNode: NodeId | undefined

  /** `kept`: where it goes on from. */
  constructor(kept?: KeptOutline) {
    Object.assign(this, kept)
    this.asked = new Map(kept?.asked)
  }

  /** As plain JSON. */
  keep(): KeptOutline {
    const { title, last, busySince, activeAt, requestTokens, asked, untilPrompt, titleNode } = this
    return { title, last, busySince, activeAt, requestTokens, asked: [...asked], untilPrompt, titleNode }
  }

  /** Takes in the next record: of the past that a fork shares, and then of its own log. */
  apply(record: LogRecord): void {
    this.activeAt = record.time
    switch (record.type) {
      case 'agent.created':
        this.#begin(record)
        return
      case 'run.start':
        this.untilPrompt = record.messages ?? 1
        this.busySince = record.time
        this.last = undefined
        return
      case 'message.added':
        if (!isImported(record)) this.untilPrompt -= 1
        if (this.untilPrompt <= 0 && this.title === undefined) {
          this.title = titleOf(textOf(record.message.content))
          this.titleNode = record.nodeId
        }
        return
      case 'guard.decided':
        if (record.withheld?.includes(this.titleNode!) === true) this.title = this.titleNode = undefined
        return
      case 'reply.end': {
        const { input, cacheRead, cacheWrite } = record.message.usage
        const used = input + cacheRead + cacheWrite || record.estimatedTokens
        if (used > 0) this.requestTokens = used
        return
      }
      case 'run.end':
        if (record.stopReason !== 'paused') this.asked.clear()
        this.busySince = undefined
        this.last = lastOf(record)
        return
      case 'run.abandoned':
        this.last = { stopReason: 'aborted', at: record.time }
        return
      default:
        if (!movesCall(record)) return
        if (isWaiting(stageAfter(record))) this.asked.set(record.key, record.time)
        else this.asked.delete(record.key)
    }
  }

  /** Of its past a fork keeps what it is about, unless a call gave it a task of its own. */
  #begin({ parent, title = parent?.callId === undefined ? this.title : undefined }: RecordOf<'agent.created'>): void {
    if (title !== this.title) this.titleNode = undefined
    this.title = title
    this.last = this.busySince = this.requestTokens = undefined
    this.untilPrompt = 0
  }
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

/** What a log says in outline. `past`: what a fork shares with its sources. */
export function outlineOf(records: Iterable<LogRecord>, past: Iterable<LogRecord> = []): Outline {
  const outline = new Outline()
  for (const record of past) outline.apply(record)
  for (const record of records) outline.apply(record)
  return outline
}
