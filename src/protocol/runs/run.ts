import { errorInfo, type ErrorInfo, RuntimeError } from '../errors.ts'
import type { AgentEvent } from '../events.ts'
import type { Refusal } from '../guarding.ts'
import { noUsage, textOf } from '../text/messageText.ts'
import type { LogRecord, PauseReason, RecordOf, RunStopReason } from '../records.ts'
import { EventBuffer } from './eventBuffer.ts'
import { partialOutputs, type PartialOutput } from './partialOutput.ts'
import type { RunResult, UnansweredRun } from './runResult.ts'

/**
 * A run: its events as they happen, and its result. Either may be ignored. Late iteration starts with the
 * buffered events. Leaving the loop early does not stop the run.
 */
export interface Run<out Output = unknown, out Event = AgentEvent> extends AsyncIterable<Event> {
  /** Id of the request that started the run; its `run.start` event has it too. */
  readonly requestId: string
  /** Resolves to the result of the run. Never rejects. */
  readonly result: Promise<RunResult<Output>>
  /**
   * Yields the answer as it grows, for an agent with an `output` schema. The last value is the whole output. It
   * consumes the run's events, so iterate over only one of them. Parts are not checked against the schema.
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

  /** Records an event or record from which the result is computed. */
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

  /** Resolves the result. `lastSaid` returns the answer before the run: a run resumed after a crash may find its answer already given. */
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

/** Options of a call that starts a run, split into the command's options and the signal. */
export interface Signalled<O> {
  readonly options: O
  readonly signal: AbortSignal | undefined
}

/**
 * Separates the signal from the options of a run, because it is not part of the command.
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

/** Returns a run that never starts because its signal was already aborted. */
export function neverRun(): Run {
  const run = new RunHandle('')
  run.cancel('aborted')
  return run
}

/** Aborts this run, and no later one, when the signal does. `abort` receives the id of the run's request. */
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
  /** True if the answer matches the agent's output schema. */
  readonly isAnswer: boolean
}

/** Returns the answer in a record or an event; `undefined` if it has none. The last answer of a run is the run's answer. */
export function answerIn(happened: AgentEvent | LogRecord): SaidAnswer | undefined {
  if (happened.type !== 'reply.end' && (happened.type !== 'tool.end' || happened.endsRun !== true)) return undefined
  const said = { text: textOf(happened.message.content), isAnswer: happened.answer === true }
  return happened.type === 'tool.end' ? { ...said, ...valueOf(happened) } : said
}

/** Returns the value of a call that ends the run; no field if its text is the answer. */
export function valueOf({ value, data }: Pick<RecordOf<'tool.end'>, 'value' | 'data'>): Pick<SaidAnswer, 'data'> {
  const said = value ?? data
  return said === undefined ? {} : { data: said }
}

/** Returns an answer as one text: the JSON of its data, if it has any. */
export const answerText = ({ text, data }: Pick<SaidAnswer, 'text' | 'data'>): string =>
  data === undefined ? text : JSON.stringify(data)
