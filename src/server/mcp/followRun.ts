import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import { errorInfo } from '../../protocol/errors.ts'
import type { AgentEvent } from '../../protocol/events.ts'
import { noUsage, textOf } from '../../protocol/messages.ts'
import { readAnswer } from '../../protocol/readAnswer.ts'
import type { LogRecord, RecordOf } from '../../protocol/records.ts'
import { resultOf } from '../../runs/run.ts'
import type { RunResult } from '../../runs/runResult.ts'
import type { Agent } from '../../runtime/agents/agent.ts'
import type { AgentAccess } from '../bridge/agentAccess.ts'

/**
 * A run of an agent whose handle nobody has any more: it was asked for by an earlier call, or by an earlier process. `requestId`: the
 * run of that request; without it, the agent's last one. What was cut off by a crash and continues is one run.
 */
class FollowedRun {
  readonly #requestId: string | undefined
  #runId: string | undefined
  #text = ''
  #end: RecordOf<'run.end'> | undefined
  #isDropped = false

  constructor(requestId: string | undefined) {
    this.#requestId = requestId
  }

  /** Whether there is nothing to wait for. */
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
        if (happened.runId === this.#runId) this.#end = happened
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

  /** `undefined`: the agent has had no run. */
  result({ output }: AgentDefinition): RunResult | undefined {
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

/** Where a run is looked for. */
interface Place {
  readonly access: AgentAccess
  readonly agent: Agent
  readonly definition: AgentDefinition
}

/**
 * Resolves once the run is over, or `signal` is aborted; `undefined`: there is none. Rejects as the store does.
 */
export async function followRun(
  { access, agent, definition }: Place,
  requestId: string | undefined,
  signal: AbortSignal,
): Promise<RunResult | undefined> {
  const run = new FollowedRun(requestId)
  let next = 1
  // Records written meanwhile are read too, so that nothing is missed before the events are heard.
  do {
    await agent.durable()
    for await (const record of access.records(agent.id, next)) {
      run.take(record)
      next = record.seq + 1
    }
  } while (next <= agent.lastSeq)
  if (!run.isOver && !signal.aborted) {
    const events = agent.events()
    const leave = (): void => void events.return?.()
    signal.addEventListener('abort', leave, { once: true })
    for await (const event of events) {
      if (event.agentId === agent.id) run.take(event)
      if (run.isOver) break
    }
    signal.removeEventListener('abort', leave)
    await agent.durable()
  }
  return run.result(definition)
}
