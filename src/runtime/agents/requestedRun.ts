import { readAnswer } from '../../protocol/checks/readOutput.ts'
import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import type { AgentEvent } from '../../protocol/events.ts'
import { noUsage } from '../../protocol/messages.ts'
import { answerIn, answerText, type SaidAnswer, resultOf } from '../../protocol/runs/run.ts'
import type { LogRecord, RecordOf, RunStopReason } from '../../protocol/records.ts'
import type { RunResult } from '../../protocol/runs/runResult.ts'
import { isWait } from '../../protocol/runs/waits.ts'
import { toErrorInfo, type ErrorInfo } from '../../protocol/errors.ts'
import type { TreeAgent } from '../children/treeAgent.ts'

type Happened = AgentEvent | LogRecord

/**
 * The run that a request asked for, with the runs that continued it, as the agent's records state it. After a restart
 * there is no run handle to await. Without a request: the newest run.
 */
export class RequestedRun {
  readonly #requestId: string | undefined
  readonly #output: () => AgentDefinition['output']
  readonly #runs = new Set<string>()
  #said: Pick<SaidAnswer, 'text' | 'data'> = { text: '' }
  #result: RunResult | undefined
  #lastSeq = 0
  /** Events that come before `catchUp`. */
  #early: Happened[] | undefined = []

  /** Follows a run. `output` returns the schema of the definition that answers, which changes with a handoff. */
  constructor(requestId: string | undefined, output: () => AgentDefinition['output']) {
    this.#requestId = requestId
    this.#output = output
  }

  /** Result of the run, unless it continues. A run that was cut off with its process has not ended. */
  get result(): RunResult | undefined {
    return this.#result
  }

  get hasBegun(): boolean {
    return this.#runs.size > 0
  }

  /** Returns the result that the run would have if no more records came. */
  unfinished(stopReason: RunStopReason, why: Parameters<typeof resultOf>[2] = {}): RunResult {
    const spent = { turns: 0, childTurns: 0, usage: noUsage, costUsd: 0 }
    return resultOf({ text: this.#said.text, runId: [...this.#runs].at(-1) ?? '', ...spent }, stopReason, why)
  }

  note(happened: Happened): void {
    if (this.#early !== undefined) this.#early.push(happened)
    else this.#take(happened)
  }

  /** Notes the records in the log, then the events that came meanwhile. No event counts before. */
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
    if ('foreign' in happened) return
    if (type === 'queue.changed' && happened.why === 'dropped') return this.#left(happened)
    const said = answerIn(happened)
    if ((type !== 'run.start' && said === undefined && type !== 'run.end') || seq <= this.#lastSeq) return
    this.#lastSeq = seq
    if (type === 'run.start') return this.#begin(happened)
    if (!('runId' in happened) || !this.#runs.has(happened.runId)) return
    if (said !== undefined) this.#said = said
    else if (happened.type !== 'run.end') return
    else if (happened.reason?.type !== 'interrupted') this.#result = this.#resultOf(happened)
  }

  /** Notes that the request was dropped from its queue before it began. */
  #left({ removed = [] }: Pick<RecordOf<'queue.changed'>, 'removed'>): void {
    if (this.#requestId === undefined || !removed.includes(this.#requestId)) return
    this.#result = this.unfinished('aborted')
  }

  #begin({ runId, requestId, resumedFrom }: RecordOf<'run.start'>): void {
    const goesOn = resumedFrom !== undefined && this.#runs.has(resumedFrom)
    if (this.#requestId === undefined) this.#runs.clear()
    else if (!goesOn && requestId !== this.#requestId) return
    this.#runs.add(runId)
    this.#result = undefined
    if (!goesOn) this.#said = { text: '' }
  }

  #resultOf(end: RecordOf<'run.end'>): RunResult {
    const { runId, stopReason, turns, childTurns = 0, usage, costUsd, reason, error, refusal } = end
    const output = this.#output()
    const answer = output === null || stopReason !== 'stop' ? undefined : readAnswer(output, answerText(this.#said))
    const totals = { text: this.#said.text, runId, turns, childTurns, usage, costUsd }
    return resultOf(totals, stopReason, {
      reason,
      error,
      refusal,
      ...(answer?.ok === true ? { output: answer.value } : {}),
    })
  }
}

/**
 * Returns the result of the run that a request asked for, or of the newest run, from whichever process. Resolves once
 * the run, with those that continue it, has ended. Waits for people, but not for a pause to end. `undefined`: no run
 * was asked for. Rejects with the log's errors.
 */
export async function awaitRequested(
  agent: TreeAgent,
  records: AsyncIterable<LogRecord>,
  requestId?: string,
): Promise<RunResult | undefined> {
  const run = new RequestedRun(requestId, () => agent.view.definition.output)
  let ended: ErrorInfo | null | undefined = agent.machine.isStopped ? await agent.machine.ended : undefined
  let look = (): void => {}
  const unsubscribe = agent.announcer.subscribe(
    (event) => {
      if (event.agentId === agent.agentId) run.note(event)
      look()
    },
    { descendants: false },
  )
  const forget = agent.machine.onEnd((crash) => {
    ended = crash
    look()
  })
  try {
    await run.catchUp(records)
    if (requestId === undefined && !run.hasBegun) return undefined
    for (;;) {
      if (run.result !== undefined) return await stored(agent, run, run.result)
      if (ended === null) return run.unfinished('aborted')
      if (ended !== undefined) return run.unfinished('error', { error: ended })
      const standing = atRest(agent, run)
      if (standing !== undefined) return standing
      await new Promise<void>((resolve) => (look = resolve))
    }
  } finally {
    forget()
    unsubscribe()
  }
}

/** Returns the run's result if it cannot continue by itself. */
function atRest({ machine: { state, context, unseen } }: TreeAgent, run: RequestedRun): RunResult | undefined {
  const { pause: reason, prompts } = context
  if (reason?.type === 'store') return run.unfinished('paused', { reason, error: reason.error })
  if (reason !== null) return isWait(reason) ? undefined : run.unfinished('paused', { reason })
  return state === 'idle' && unseen === 0 && prompts.length === 0 ? run.unfinished('aborted') : undefined
}

/** Returns a result once its records are in the store, or a paused result if the store fails. */
async function stored(agent: TreeAgent, run: RequestedRun, result: RunResult): Promise<RunResult> {
  try {
    await agent.log.durable()
    return result
  } catch (thrown) {
    return run.unfinished('paused', { error: agent.announcer.clean(toErrorInfo(thrown, 'STORE_APPEND_FAILED')) })
  }
}
