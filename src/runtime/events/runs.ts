import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import { readAnswer } from '../../protocol/checks/readOutput.ts'
import type { Conversation } from '../../conversation/tree/conversation.ts'
import { mayResumeFailed } from '../../machines/conditions.ts'
import type { AgentContext, AgentMachineEvent } from '../../machines/agentTypes.ts'
import type { Clock } from '../../protocol/ports/clock.ts'
import { toErrorInfo, type ErrorInfo } from '../../protocol/errors.ts'
import { textOf } from '../../protocol/messages.ts'
import type { RecordOf } from '../../protocol/records.ts'
import type { Limits } from '../../protocol/runs/runLimits.ts'
import type { SaidAnswer, RunOutcome } from '../../protocol/runs/run.ts'
import type { Announcer } from './announcer.ts'

interface RunOwner {
  readonly view: { readonly definition: Pick<AgentDefinition, 'output'>; readonly conversation: Conversation }
  readonly machine: {
    readonly context: Pick<AgentContext, 'pausedRun' | 'run' | 'pause' | 'failedRun' | 'resuming' | 'ending'>
    send(event: AgentMachineEvent): void
  }
  readonly log: {
    /** Resolves once every record so far is in the store; `undefined` if it already is. */
    durable(): Promise<void> | undefined
    /** Waits for the log, after rewriting the records that a failure left over. Rejects if that fails again. */
    written(): Promise<void>
  }
  readonly announcer: Announcer
  readonly shared: { readonly clock: Clock }
}

/** The awaited runs of one agent: requested, current and ended. */
export class Runs {
  readonly #owner: RunOwner
  /** Runs by request, until they start. */
  #expected: Map<string, RunOutcome> | undefined

  constructor(owner: RunOwner) {
    this.#owner = owner
  }

  /** Returns true if the run of this request is expected, and has not started. */
  expects(requestId: string): boolean {
    return this.#expected?.has(requestId) === true
  }

  /** Registers the handle to receive the run that its request will start. */
  await<R extends RunOutcome>(run: R): R {
    this.#expected ??= new Map()
    this.#expected.set(run.requestId, run)
    return run
  }

  /** Makes `run` the handle of the current run, which an earlier process started. */
  join(run: RunOutcome): void {
    this.#expected?.delete(run.requestId)
    this.#owner.announcer.run = run
  }

  /** Continues after a pause or a failure, once the log is written. Never rejects: if the store fails again, the run ends as paused. */
  async resume(run: RunOutcome, limits: Limits | undefined): Promise<void> {
    try {
      await this.#owner.log.written()
    } catch (thrown) {
      return this.drop(run, 'paused', this.#owner.announcer.clean(toErrorInfo(thrown, 'STORE_APPEND_FAILED')))
    }
    this.continue(run, limits)
  }

  /** Continues after a pause or a failure, at once. */
  continue(run: RunOutcome, limits: Limits | undefined): void {
    const { machine, shared } = this.#owner
    const { context } = machine
    const isOwed = context.pausedRun !== null || mayResumeFailed({ context })
    const at = shared.clock.now()
    machine.send({ type: 'resume', id: run.requestId, at, ...(limits === undefined ? {} : { limits }) })
    if (!isOwed) this.drop(run, 'stop')
  }

  /** Ends a run that will not start. */
  drop(run: RunOutcome, ...why: Parameters<RunOutcome['cancel']>): void {
    this.#expected?.delete(run.requestId)
    run.cancel(...why)
  }

  /** Ends the runs of requests that were removed from the queue. */
  dropAll(requestIds: readonly string[] = []): void {
    for (const id of requestIds) {
      const run = this.#expected?.get(id)
      if (run !== undefined) this.drop(run, 'aborted')
    }
  }

  begin({ requestId }: RecordOf<'run.start'>): void {
    this.#owner.announcer.run = this.#expected?.get(requestId)
    this.#expected?.delete(requestId)
  }

  /** Ends the run. The result follows once its records are in the store. */
  end(end: RecordOf<'run.end'>): void {
    const { announcer, view, log } = this.#owner
    const { run } = announcer
    announcer.run = undefined
    if (run === undefined) return
    const words = { parse: (text: string) => this.#parse(text), lastSaid: () => lastSaid(view.conversation) }
    const pending = log.durable()
    // In the middle of the machine's step, whose events come before the result.
    if (pending === undefined) queueMicrotask(() => run.finish(end, words))
    else
      pending.then(
        () => run.finish(end, words),
        (thrown: unknown) => run.finish(end, words, announcer.clean(toErrorInfo(thrown, 'STORE_APPEND_FAILED'))),
      )
  }

  /** Settles every handle that is still waiting, because the agent has ended. */
  endAll(crash: ErrorInfo | null): void {
    const { announcer } = this.#owner
    const runs = [...(announcer.run === undefined ? [] : [announcer.run]), ...(this.#expected?.values() ?? [])]
    announcer.run = undefined
    this.#expected = undefined
    for (const run of runs) {
      if (crash === null) run.cancel('aborted')
      else run.cancel('error', crash)
    }
  }

  #parse(text: string): { output?: unknown } {
    const { output } = this.#owner.view.definition
    if (output === null) return {}
    const answer = readAnswer(output, text)
    return answer.ok ? { output: answer.value } : {}
  }
}

/** Returns the last answer on the trunk: the last reply, or a result that ended the run. */
export function lastSaid(conversation: Conversation): Pick<SaidAnswer, 'text' | 'data'> {
  for (let index = conversation.trunkLength - 1; index >= 0; index -= 1) {
    const { message, ending } = conversation.trunkAt(index)!
    if (message.role === 'assistant' || ending !== undefined) return { text: textOf(message.content), ...ending }
  }
  return { text: '' }
}
