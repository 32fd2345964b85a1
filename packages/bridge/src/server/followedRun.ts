import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { errorInfo } from '../../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { noUsage, textOf } from '../../../../src/protocol/messages.ts'
import { readAnswer } from '../../../../src/protocol/checks/readOutput.ts'
import type { LogRecord, RecordOf } from '../../../../src/protocol/records.ts'
import { resultOf } from '../../../../src/protocol/runs/run.ts'
import type { RunResult } from '../../../../src/protocol/runs/runResult.ts'
import { isCutOff, type DrivenAgent } from './drivenAgent.ts'

/**
 * A run of an agent without a handle, because an earlier call or process requested it. `requestId` selects the run of that request.
 * Without it, the run is the agent's last one. A run that was cut off by a crash and continues counts as one run.
 */
export class FollowedRun {
  readonly #requestId: string | undefined
  readonly #agent: Pick<DrivenAgent, 'isPlaced'>
  #runId: string | undefined
  #text = ''
  #end: RecordOf<'run.end'> | undefined
  #isDropped = false

  constructor(requestId: string | undefined, agent: Pick<DrivenAgent, 'isPlaced'>) {
    this.#requestId = requestId
    this.#agent = agent
  }

  /** True if there is nothing to wait for. */
  get isOver(): boolean {
    return this.#isDropped || this.#end !== undefined || (this.#requestId === undefined && this.#runId === undefined)
  }

  take(happened: LogRecord | AgentEvent): void {
    switch (happened.type) {
      case 'run.start':
        return this.#start(happened)
      case 'reply.end':
        if (happened.runId === this.#runId) this.#text = textOf(happened.message.content)
        return
      case 'run.end':
        if (happened.runId === this.#runId && !isCutOff(this.#agent, happened)) this.#end = happened
        return
      case 'queue.changed':
        if (this.#requestId !== undefined && happened.removed?.includes(this.#requestId) === true)
          this.#isDropped = happened.why === 'dropped'
        return
      default:
    }
  }

  #start({ requestId, resumedFrom, runId }: RecordOf<'run.start'>): void {
    const goesOn = resumedFrom !== undefined && resumedFrom === this.#runId
    if (this.#requestId !== undefined && requestId !== this.#requestId && !goesOn) return
    if (!goesOn) this.#text = ''
    this.#runId = runId
    this.#end = undefined
  }

  /** Returns the result of the run; `undefined` if the agent has had no run. */
  result(output: AgentDefinition['output']): RunResult | undefined {
    const text = this.#text
    const end = this.#end
    if (end === undefined) {
      if (this.#runId === undefined && !this.#isDropped) return undefined
      const spent = { turns: 0, childTurns: 0, usage: noUsage, costUsd: 0 }
      return resultOf({ text, runId: this.#runId ?? '', ...spent }, 'aborted', {})
    }
    const { stopReason, runId, turns, childTurns = 0, usage, costUsd, reason, error, refusal } = end
    const answer = output === null || stopReason !== 'stop' ? undefined : readAnswer(output, text)
    return resultOf({ text, runId, turns, childTurns, usage, costUsd }, stopReason, {
      reason,
      error: error ?? (stopReason === 'error' ? errorInfo('INTERNAL', 'The run failed.') : undefined),
      refusal,
      ...(answer?.ok === true ? { output: answer.value } : {}),
    })
  }
}
