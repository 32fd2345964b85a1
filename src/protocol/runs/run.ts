import { errorInfo, type ErrorInfo, RuntimeError } from '../errors.ts'
import type { AgentEvent } from '../events.ts'
import type { Refusal } from '../guarding.ts'
import { noUsage } from '../text/messageText.ts'
import { answerIn, answerText, type SaidAnswer } from '../text/answerIn.ts'
import type { LogRecord, PauseReason, RecordOf, RunStopReason } from '../records.ts'
import { EventBuffer } from './eventBuffer.ts'
import { partialOutputs, type PartialOutput } from './partialOutput.ts'
import type { RunResult, UnansweredRun } from './runResult.ts'

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
