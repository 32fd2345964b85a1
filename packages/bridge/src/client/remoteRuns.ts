import type { z } from 'zod'
import { errorInfo, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { AgentEvent, EventOf } from '../../../../src/protocol/events.ts'
import { answerIn, answerText, type SaidAnswer, RunHandle } from '../../../../src/protocol/runs/run.ts'
import { readAnswer, readJson } from '../../../../src/protocol/checks/readOutput.ts'
import { unwrapped } from '../../../../src/protocol/checks/strictOutput.ts'
import type { RunResult } from '../../../../src/protocol/runs/runResult.ts'

/** The runs of a remote agent that this client requested, built from its events. */
export class RemoteRuns {
  readonly #expected = new Map<string, RunHandle>()
  #current: RunHandle | undefined
  /** A run during which the server died: it either continues as another run or stays paused. */
  #interrupted: { readonly run: RunHandle; readonly end: EventOf<'run.end'> } | undefined
  /** Schema that checks answers. Without it the server's check is trusted. */
  output: z.ZodType | undefined
  #said: SaidAnswer = { text: '', isAnswer: false }
  readonly #onEnd: (requestId: string) => void

  /** Takes `onEnd`, which is called when the result of a request is known. */
  constructor(onEnd: (requestId: string) => void) {
    this.#onEnd = onEnd
  }

  get isEmpty(): boolean {
    return this.#expected.size === 0 && this.#current === undefined && this.#interrupted === undefined
  }

  /** True while a run is interrupted and may or may not continue. */
  get isInterrupted(): boolean {
    return this.#interrupted !== undefined
  }

  /** Returns the handle of the run that the request with this id will start. */
  expect(requestId: string): RunHandle {
    const run = new RunHandle(requestId)
    this.#expected.set(requestId, run)
    return run
  }

  /** Processes the agent's next event. */
  take(event: AgentEvent): void {
    if (event.type === 'run.start') this.#begin(event)
    else if (event.type === 'queue.changed' && event.why === 'dropped') this.#dropped(event.removed ?? [])
    else if (event.type === 'turn.start' && this.#current !== undefined) this.#expected.delete(this.#current.requestId)
    else this.#replied(event)
    const run = this.#current
    if (event.type === 'run.end' && run !== undefined) this.#end(run, event)
    else run?.push(event)
  }

  /** Ends an interrupted run once all records have arrived and the agent is loaded, because the run will not continue on its own. */
  caughtUp(): void {
    this.#endInterrupted()
  }

  /** Ends a run whose request was refused, or that has no end in the log. */
  cancel(requestId: string, stopReason: RunResult['stopReason'], error?: ErrorInfo): void {
    const run = this.#expected.get(requestId) ?? (this.#current?.requestId === requestId ? this.#current : undefined)
    if (run === undefined) return
    this.#expected.delete(requestId)
    if (this.#current === run) this.#current = undefined
    run.cancel(stopReason, error)
    this.#onEnd(requestId)
  }

  /** Ends all runs when no more events of the agent will come. */
  cancelAll(stopReason: RunResult['stopReason'], error?: ErrorInfo): void {
    this.#endInterrupted()
    const runs = new Set([...(this.#current === undefined ? [] : [this.#current]), ...this.#expected.values()])
    for (const { requestId } of runs) this.cancel(requestId, stopReason, error)
  }

  #begin({ requestId, resumedFrom, cause }: EventOf<'run.start'>): void {
    const { run, end } = this.#interrupted ?? {}
    if (run !== undefined && end?.runId === resumedFrom) {
      this.#interrupted = undefined
      this.#current = run
      return
    }
    this.#endInterrupted()
    // It stays expected until its first turn, as the server may die before its message is written.
    this.#current = this.#expected.get(requestId)
    if (cause === 'resume') this.#expected.delete(requestId)
  }

  #end(run: RunHandle, end: EventOf<'run.end'>): void {
    this.#current = undefined
    // It never began, so the command will be sent again.
    if (this.#expected.has(run.requestId) && end.stopReason === 'aborted') return
    this.#expected.delete(run.requestId)
    if (end.reason?.type === 'interrupted') this.#interrupted = { run, end }
    else this.#finish(run, end)
  }

  #endInterrupted(): void {
    if (this.#interrupted === undefined) return
    const { run, end } = this.#interrupted
    this.#interrupted = undefined
    this.#finish(run, end)
  }

  #finish(run: RunHandle, end: EventOf<'run.end'>): void {
    run.push(end)
    const lastSaid = (): SaidAnswer => this.#said
    const { output } = this
    const read =
      end.stopReason !== 'stop' || output === undefined ? undefined : readAnswer(output, answerText(this.#said))
    if (read?.ok === false) {
      const error = errorInfo('OUTPUT_INVALID', `The answer does not fit the schema of this client: ${read.wrong}.`)
      run.finish({ ...end, stopReason: 'error', error }, { parse: () => ({}), lastSaid })
    } else run.finish(end, { parse: () => (read === undefined ? this.#answer() : { output: read.value }), lastSaid })
    this.#onEnd(run.requestId)
  }

  #replied(event: AgentEvent): void {
    this.#said = answerIn(event) ?? this.#said
  }

  /** Returns the answer as the server checked it, without its schema's conversions and defaults. */
  #answer(): { output?: unknown } {
    const json = this.#said.isAnswer ? readJson(answerText(this.#said)) : undefined
    return json === undefined ? {} : { output: unwrapped(json.value) }
  }

  #dropped(requestIds: readonly string[]): void {
    for (const id of requestIds) if (this.#expected.has(id)) this.cancel(id, 'aborted')
  }
}
