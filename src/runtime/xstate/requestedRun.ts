import { readAnswer } from '../../protocol/readAnswer.ts'
import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import type { AgentEvent } from '../../protocol/events.ts'
import { textOf } from '../../protocol/messages.ts'
import type { LogRecord, RecordOf } from '../../protocol/records.ts'
import { resultOf } from '../../runs/run.ts'
import type { RunResult } from '../../runs/runResult.ts'

type Happened = AgentEvent | LogRecord

/**
 * The run that a request asked for, with the runs that went on with it, as an agent's records tell of it: after a restart there is no
 * handle of a run to await. Without a request: the newest run.
 */
export class RequestedRun {
  readonly #requestId: string | undefined
  readonly #output: () => AgentDefinition['output']
  readonly #runs = new Set<string>()
  #text = ''
  #result: RunResult | undefined
  #lastSeq = 0
  /** What happens before `catchUp`. */
  #early: Happened[] | undefined

  /** `output`: the schema of whoever answers now, which changes with a handoff. */
  constructor(requestId: string | undefined, output: () => AgentDefinition['output']) {
    this.#requestId = requestId
    this.#output = output
    if (requestId !== undefined) this.#early = []
  }

  /** How it ended, unless it goes on. A run that was cut off with its process has not ended. */
  get result(): RunResult | undefined {
    return this.#result
  }

  note(happened: Happened): void {
    if (this.#early !== undefined) this.#early.push(happened)
    else this.#take(happened)
  }

  /** Notes what the log has of the request, then what has happened meanwhile: nothing counts before. */
  async catchUp(records: AsyncIterable<LogRecord> | readonly LogRecord[]): Promise<void> {
    for await (const record of records) this.#take(record)
    // A run that its failing store paused, and that was written later after all, was continued or waits to be.
    if (this.#result?.reason?.type === 'store') this.#result = undefined
    const early = this.#early ?? []
    this.#early = undefined
    for (const happened of early) this.#take(happened)
  }

  #take(happened: Happened): void {
    const { type, seq } = happened
    if ((type !== 'run.start' && type !== 'reply.end' && type !== 'run.end') || seq <= this.#lastSeq) return
    this.#lastSeq = seq
    const { runId } = happened
    if (type === 'run.start') this.#begin(happened)
    else if (!this.#runs.has(runId)) return
    else if (type === 'reply.end') this.#text = textOf(happened.message.content)
    else if (happened.reason?.type !== 'interrupted') this.#result = this.#resultOf(happened)
  }

  #begin({ runId, requestId, resumedFrom }: RecordOf<'run.start'>): void {
    const goesOn = resumedFrom !== undefined && this.#runs.has(resumedFrom)
    if (this.#requestId === undefined) this.#runs.clear()
    else if (!goesOn && requestId !== this.#requestId) return
    this.#runs.add(runId)
    this.#result = undefined
    if (!goesOn) this.#text = ''
  }

  #resultOf(end: RecordOf<'run.end'>): RunResult {
    const { runId, stopReason, turns, childTurns = 0, usage, costUsd, reason, error, refusal } = end
    const output = this.#output()
    const answer = output === null || stopReason !== 'stop' ? undefined : readAnswer(output, this.#text)
    const totals = { text: this.#text, runId, turns, childTurns, usage, costUsd }
    return resultOf(totals, stopReason, {
      reason,
      error,
      refusal,
      ...(answer?.ok === true ? { output: answer.value } : {}),
    })
  }
}
