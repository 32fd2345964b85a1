import type { ErrorInfo } from '../../../src/protocol/errors.ts'
import type { Refusal } from '../../../src/protocol/guarding.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import type { LogRecord, PauseReason, RecordOf, RunStopReason } from '../../../src/protocol/records.ts'
import { noteRequest, requestsFold } from '../../../src/log/requestIndex.ts'

/** Outcome of a request according to a log, told apart by `status`. */
export type RequestOutcome =
  /** The request waits in a queue for the current run to end. */
  | { readonly status: 'queued' }
  /** The request left its queue before its run began, because of an abort or a stop. */
  | { readonly status: 'dropped' }
  /** Its run is under way, or was when the process died. The agent's next resume then continues it. */
  | { readonly status: 'running'; readonly runId: string }
  /** Its run waits to be resumed. */
  | { readonly status: 'paused'; readonly runId: string; readonly reason: PauseReason }
  /** `runId`: id of the last run that handled the request. */
  | {
      readonly status: 'ended'
      readonly runId: string
      readonly stopReason: Exclude<RunStopReason, 'paused'>
      /** The text of the last reply. */
      readonly text: string
      readonly error?: ErrorInfo
      readonly refusal?: Refusal
      /** The limit that was reached when it answered. */
      readonly reason?: PauseReason
    }
  /** The request is recorded and needs no run (a decision, a pin, …). */
  | { readonly status: 'recorded' }

/** A run with those that continue it. */
interface Course {
  runId: string
  text: string
  end: RecordOf<'run.end'> | undefined
  isAbandoned: boolean
}

/**
 * Requests to an agent and their outcomes, folded from its log alone. A repeated command is recognized,
 * however long ago it first came, and its outcome is found across pauses, crashes and other processes.
 *
 * @example
 * ```ts
 * const requests = new LoggedRequests()
 * for await (const record of agent.readLog()) requests.apply(record)
 * if (requests.has('order-17')) console.log(requests.outcome('order-17')?.status)
 * ```
 */
export class LoggedRequests {
  readonly #index = requestsFold.initial()
  readonly #waiting = new Map<string, 'queued' | 'dropped'>()
  readonly #courses = new Map<string, Course>()
  readonly #byRun = new Map<string, Course>()
  /** The current run, and the request that started it. */
  #open: { readonly course: Course; readonly requestId: string } | undefined

  /** Returns true if the log has the request. A run counts once all its first messages are recorded. */
  has(requestId: string): boolean {
    return this.#index.ids.has(requestId)
  }

  /** Returns the outcome of a request; `undefined` if the log does not have it. A message that joined a run shares that run's outcome. */
  outcome(requestId: string): RequestOutcome | undefined {
    if (!this.has(requestId)) return undefined
    const course = this.#courses.get(requestId)
    if (course !== undefined) return outcomeOf(course)
    return { status: this.#waiting.get(requestId) ?? 'recorded' }
  }

  /** Adds the next record of the log. */
  apply(record: LogRecord): void {
    const wasBeginning = this.#index.beginning !== undefined
    noteRequest(this.#index, record)
    switch (record.type) {
      case 'run.start':
        return this.#start(record)
      case 'reply.end':
        if (this.#open !== undefined) this.#open.course.text = textOf(record.message.content)
        return
      case 'run.end':
        return this.#end(record, wasBeginning)
      case 'run.abandoned': {
        const course = this.#byRun.get(record.runId)
        if (course !== undefined) course.isAbandoned = true
        return
      }
      case 'queue.changed':
        if (record.added !== undefined) this.#waiting.set(record.added.id, 'queued')
        return this.#left(record.removed, record.why)
      case 'tool.end':
        return this.#left(record.delivers, 'taken')
      default:
    }
  }

  #start({ runId, requestId, resumedFrom }: RecordOf<'run.start'>): void {
    const before = resumedFrom === undefined ? undefined : this.#byRun.get(resumedFrom)
    const course = before ?? { runId, text: '', end: undefined, isAbandoned: false }
    course.runId = runId
    course.end = undefined
    this.#byRun.set(runId, course)
    this.#courses.set(requestId, course)
    this.#open = { course, requestId }
  }

  #end(end: RecordOf<'run.end'>, isForgotten: boolean): void {
    if (this.#open === undefined) return
    const { course, requestId } = this.#open
    course.end = end
    this.#open = undefined
    // Its messages are still in their queue, or will be sent again.
    if (isForgotten) this.#courses.delete(requestId)
  }

  #left(removed: readonly string[] | undefined, why: 'taken' | 'dropped' | undefined): void {
    for (const id of removed ?? []) {
      if (why === 'dropped') this.#waiting.set(id, 'dropped')
      else if (this.#open !== undefined && !this.#courses.has(id)) this.#courses.set(id, this.#open.course)
    }
  }
}

/** Returns the requests of a whole log. */
export function requestsOf(records: Iterable<LogRecord>): LoggedRequests {
  const requests = new LoggedRequests()
  for (const record of records) requests.apply(record)
  return requests
}

function outcomeOf({ runId, text, end, isAbandoned }: Course): RequestOutcome {
  if (end === undefined) return { status: 'running', runId }
  const { stopReason, reason, error, refusal } = end
  if (stopReason === 'paused')
    return isAbandoned
      ? { status: 'ended', runId, stopReason: 'aborted', text }
      : { status: 'paused', runId, reason: reason! }
  return {
    status: 'ended',
    runId,
    stopReason,
    text,
    ...(error === undefined ? {} : { error }),
    ...(refusal === undefined ? {} : { refusal }),
    ...(reason === undefined ? {} : { reason }),
  }
}
