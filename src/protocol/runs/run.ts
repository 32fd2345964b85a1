import { errorInfo, type ErrorInfo, RuntimeError } from '../errors.ts'
import type { AgentEvent } from '../events.ts'
import type { Refusal } from '../guarding.ts'
import { noUsage, textOf } from '../text/messageText.ts'
import type { LogRecord, PauseReason, RecordOf, RunStopReason } from '../records.ts'
import { partialOutputs, type PartialOutput } from './partialOutput.ts'
import type { RunResult, UnansweredRun } from './runResult.ts'

/** Number of buffered events from which text deltas are joined, and from which the oldest are dropped. */
const joinAbove = 256
const dropAbove = 4_096
/** Like `joinAbove`, before anyone has started to read: most runs are awaited and their events never read. */
const joinUnreadAbove = 32

type TextDelta = Extract<AgentEvent, { type: 'reply.delta' | 'thinking.delta' }>

/**
 * Buffer of events for one `for await`, with at most `dropAbove` events. A slow reader first gets neighbouring deltas joined, then an
 * `events.dropped` in place of the oldest events.
 */
export class EventBuffer implements AsyncIterableIterator<AgentEvent> {
  #events: (AgentEvent | undefined)[] = []
  #first = 0
  #dropped = 0
  #isClosed = false
  #joinAbove = joinUnreadAbove
  /** The last event, if it is our own copy into which others were joined. It grows in place. */
  #joined: { -readonly [K in keyof TextDelta]: TextDelta[K] } | undefined
  #waiting: (() => void)[] = []
  readonly #onReturn: () => void

  constructor(onReturn: () => void = () => {}) {
    this.#onReturn = onReturn
  }

  push(event: AgentEvent): void {
    if (this.#isClosed) return
    const waiting = this.#events.length - this.#first
    if (waiting >= this.#joinAbove && this.#join(event)) return
    if (waiting >= dropAbove) {
      this.#shift()
      this.#dropped += 1
    }
    this.#joined = undefined
    this.#events.push(event)
    if (this.#waiting.length > 0) this.#waiting.shift()!()
  }

  /** Ends the events. Buffered ones can still be read. */
  close(): void {
    this.#isClosed = true
    this.#wakeAll()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<AgentEvent, undefined>> {
    this.#joinAbove = joinAbove
    while (this.#first === this.#events.length) {
      if (this.#isClosed) return { done: true, value: undefined }
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    return { done: false, value: this.#take() }
  }

  async return(): Promise<IteratorResult<AgentEvent, undefined>> {
    this.#isClosed = true
    this.#events = []
    this.#first = 0
    this.#wakeAll()
    this.#onReturn()
    return { done: true, value: undefined }
  }

  #take(): AgentEvent {
    const event = this.#events[this.#first]!
    if (this.#dropped > 0) {
      const { agentId, path, seq, time } = event
      const count = this.#dropped
      this.#dropped = 0
      const at = 'runId' in event ? { runId: event.runId, turnIndex: event.turnIndex } : { runId: '', turnIndex: 0 }
      return { type: 'events.dropped', agentId, path, seq, time, ...at, count }
    }
    this.#shift()
    return event
  }

  #shift(): void {
    this.#events[this.#first] = undefined
    this.#first += 1
    if (this.#first > 1_024 || this.#first === this.#events.length) {
      this.#events = this.#events.slice(this.#first)
      this.#first = 0
    }
  }

  #wakeAll(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }

  #join(event: AgentEvent): boolean {
    if (event.type !== 'reply.delta' && event.type !== 'thinking.delta') return false
    const last = this.#events.at(-1)
    if (last?.type !== event.type || last.turnIndex !== event.turnIndex) return false
    // A new attempt starts again at offset 0 and must not be glued to the one before.
    if (event.offset !== last.offset + last.text.length) return false
    // Others hold the event that came; the first joined one is a copy.
    if (this.#joined === undefined) this.#events[this.#events.length - 1] = this.#joined = { ...last }
    this.#joined.text += event.text
    return true
  }
}

/**
 * A run: its events as they happen, and its result. You may ignore either. Late iteration starts with the buffered events; leaving the loop early
 * does not stop the run.
 */
export interface Run<out Output = unknown, out Event = AgentEvent> extends AsyncIterable<Event> {
  /** Id of the request that started the run; its `run.start` event has it too. */
  readonly requestId: string
  /** Never rejects. */
  readonly result: Promise<RunResult<Output>>
  /**
   * The answer as it grows, for an agent with an `output` schema; the last one is the whole output. It reads the run's events, so
   * iterate over one of them; parts are not checked against the schema.
   *
   * @example
   * ```ts
   * for await (const part of agent.prompt('Plan a trip.').partialOutput()) show(JSON.stringify(part))
   * ```
   */
  partialOutput(): AsyncIterableIterator<PartialOutput<Output>>
}

/** Computes the outcome of a run from its records. */
export class RunOutcome {
  readonly requestId: string
  readonly result: Promise<RunResult>
  #resolve!: (result: RunResult) => void
  #said: Pick<SaidAnswer, 'text' | 'data'> = { text: '' }
  #runId = ''
  #hasReply = false

  constructor(requestId: string) {
    this.requestId = requestId
    this.result = new Promise((resolve) => (this.#resolve = resolve))
  }

  /** Takes in an event or record from which the result is computed. */
  note(happened: AgentEvent | LogRecord): void {
    if (happened.type === 'run.start') this.#runId = happened.runId
    else {
      const said = answerIn(happened)
      if (said === undefined) return
      this.#said = said
      this.#hasReply = true
    }
  }

  /** The answer as one text, for an agent that called this one. */
  get answer(): string {
    return answerText(this.#said)
  }

  /** `lastSaid`: the answer before the run; a run that resumes after a crash may find its answer already given. */
  finish(
    end: RecordOf<'run.end'>,
    { parse, lastSaid }: { parse(text: string): { output?: unknown }; lastSaid(): Pick<SaidAnswer, 'text' | 'data'> },
    failure?: ErrorInfo,
  ): void {
    const { stopReason, turns, childTurns = 0, usage, costUsd, reason, error, refusal } = end
    if (!this.#hasReply && stopReason === 'stop') this.#said = lastSaid()
    const totals = { text: this.#said.text, runId: this.#runId, turns, childTurns, usage, costUsd }
    if (failure !== undefined) this.#resolve(resultOf(totals, 'paused', { error: failure }))
    else
      this.#resolve(
        resultOf(totals, stopReason, {
          reason,
          error,
          refusal,
          ...(stopReason === 'stop' ? parse(answerText(this.#said)) : {}),
        }),
      )
  }

  /** Ends a run that never started or whose agent died. */
  cancel(stopReason: RunStopReason, error?: ErrorInfo): void {
    const spent = { turns: 0, childTurns: 0, usage: noUsage, costUsd: 0 }
    this.#resolve(resultOf({ text: this.#said.text, runId: this.#runId, ...spent }, stopReason, { error }))
  }
}

type Totals = Omit<UnansweredRun, 'stopReason' | 'reason'>

interface Why {
  readonly reason?: PauseReason | undefined
  readonly error?: ErrorInfo | undefined
  readonly refusal?: Refusal | undefined
  readonly output?: unknown
}

/** Returns a result with the fields that its stop reason promises. A run that is paused with an error but no reason could not be stored. */
export function resultOf(totals: Totals, stopReason: RunStopReason, why: Why): RunResult {
  const { reason, error = unknownError } = why
  const known = why.error === undefined ? {} : { error }
  const limit: Pick<UnansweredRun, 'reason'> = reason?.type === 'limit' ? { reason } : {}
  switch (stopReason) {
    case 'stop':
      // Without a schema there is no such field.
      return { stopReason, ...totals, ...limit, ...('output' in why ? { output: why.output } : {}) }
    case 'paused':
      return { stopReason, ...totals, reason: reason ?? { type: 'store', error }, ...known }
    case 'error':
      return { stopReason, ...totals, error }
    case 'aborted':
      return { stopReason, ...totals, ...known }
    case 'length':
    case 'refusal':
      return { stopReason, ...totals, ...limit, ...(why.refusal === undefined ? {} : { refusal: why.refusal }) }
  }
}

const unknownError = errorInfo('INTERNAL', 'It is not known why.')

/** The runtime's side of a `Run`, which also feeds its events. */
export class RunHandle extends RunOutcome implements Run {
  readonly #buffer = new EventBuffer()

  push(event: AgentEvent): void {
    this.note(event)
    this.#buffer.push(event)
    if (event.type === 'run.end') this.#buffer.close()
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent> {
    return this.#buffer
  }

  partialOutput(): AsyncIterableIterator<unknown> {
    return partialOutputs(this, this.result)
  }

  override cancel(stopReason: RunStopReason, error?: ErrorInfo): void {
    this.#buffer.close()
    super.cancel(stopReason, error)
  }
}

/** Options of a call that starts a run: those of its command, and its signal. */
export interface Signalled<O> {
  readonly options: O
  readonly signal: AbortSignal | undefined
}

/**
 * Takes the signal out of the options of a run: it is no part of the command.
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export function signalIn<O extends { readonly signal?: AbortSignal | undefined }>({
  signal,
  ...options
}: O): Signalled<Omit<O, 'signal'>> {
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new RuntimeError('INVALID_OPTION', `signal is of type ${typeof signal}, not an AbortSignal.`)
  return { options, signal }
}

/** Returns a run that never starts, as its signal was aborted before. */
export function neverRun(): Run {
  const run = new RunHandle('')
  run.cancel('aborted')
  return run
}

/** Makes the signal abort this run, and none after it: `abort` is given the id of its request. */
export function endWith(run: Run, signal: AbortSignal | undefined, abort: (requestId: string) => void): Run {
  if (signal === undefined) return run
  const end = (): void => abort(run.requestId)
  signal.addEventListener('abort', end, { once: true })
  void run.result.then(() => signal.removeEventListener('abort', end))
  return run
}

/** A possible answer of a run: a reply, or the result of a call that ends the run. */
export interface SaidAnswer {
  readonly text: string
  /** The value of the call, which is the answer as data. */
  readonly data?: unknown
  /** True if it fits the agent's output schema. */
  readonly isAnswer: boolean
}

/** Returns the answer in a record or an event; `undefined` if it has none. The last one of a run is that of the run. */
export function answerIn(happened: AgentEvent | LogRecord): SaidAnswer | undefined {
  if (happened.type !== 'reply.end' && (happened.type !== 'tool.end' || happened.endsRun !== true)) return undefined
  const said = { text: textOf(happened.message.content), isAnswer: happened.answer === true }
  return happened.type === 'tool.end' ? { ...said, ...valueOf(happened) } : said
}

/** Returns the value of a call that ends the run; none where it is the text. */
export function valueOf({ value, data }: Pick<RecordOf<'tool.end'>, 'value' | 'data'>): Pick<SaidAnswer, 'data'> {
  const said = value ?? data
  return said === undefined ? {} : { data: said }
}

/** Returns an answer as one text: the JSON of its data, if it has any. */
export const answerText = ({ text, data }: Pick<SaidAnswer, 'text' | 'data'>): string =>
  data === undefined ? text : JSON.stringify(data)
