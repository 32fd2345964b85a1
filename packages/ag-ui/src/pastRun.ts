import { addUsage, noUsage, type Usage } from '../../../src/protocol/messages.ts'
import type { LogRecord, RecordOf } from '../../../src/protocol/records.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import { requestIdOf } from './ids.ts'
import type { Thread } from './thread.ts'
import type { CalledChild } from './writeAgUiEvents.ts'

/** The run of a request as the log records it, including a run of an earlier process. */
export class PastRun {
  readonly #requestId: string
  /** Ids of the agent's runs that make up this one: a run that was cut off continues as another one. */
  readonly agentRunIds: string[] = []
  /** End of the last of these runs. `undefined` while it has not ended. */
  end: RecordOf<'run.end'> | undefined
  /** Place in the queue. `waiting`: it waits for earlier runs; `dropped`: it was removed before it started. */
  queue: 'none' | 'waiting' | 'dropped' = 'none'
  /** Sub-agents with unanswered calls. */
  readonly children = new Map<string, CalledChild>()
  #ended: Usage = noUsage
  #open: Usage = noUsage

  constructor(runId: string) {
    this.#requestId = requestIdOf(runId)
  }

  /** Id of the newest of the agent's runs. */
  get agentRunId(): string | undefined {
    return this.agentRunIds.at(-1)
  }

  get usage(): Usage {
    return addUsage(this.#ended, this.#open)
  }

  take(record: LogRecord, agentId: string): void {
    if (record.type === 'run.start') this.#start(record)
    else if (record.type === 'run.end') this.#finish(record)
    else if (record.type === 'run.abandoned') {
      if (this.end?.stopReason === 'paused' && record.runId === this.agentRunId)
        this.end = { ...this.end, stopReason: 'aborted' }
    } else if (record.type === 'queue.changed') {
      if (record.added?.id === this.#requestId) this.queue = record.queue === 'prompts' ? 'waiting' : 'none'
      if (record.removed?.includes(this.#requestId) === true) this.queue = record.why === 'dropped' ? 'dropped' : 'none'
    } else if (record.type === 'reply.end') {
      if (record.runId === this.agentRunId) this.#open = addUsage(this.#open, record.message.usage)
    } else if (record.type === 'tool.start') {
      const { childId } = record
      if (childId !== undefined) this.children.set(childId, { ...record, childId, agentId })
    } else if (record.type === 'tool.end') {
      for (const [childId, { callId }] of this.children) if (callId === record.callId) this.children.delete(childId)
    }
  }

  #start({ requestId, resumedFrom, runId }: RecordOf<'run.start'>): void {
    const isNext = this.end?.reason?.type === 'interrupted' && resumedFrom === this.agentRunId
    if (requestId !== this.#requestId && !isNext) return
    this.agentRunIds.push(runId)
    this.end = undefined
  }

  #finish(end: RecordOf<'run.end'>): void {
    // A call left open by a run that ended is made again.
    this.children.clear()
    if (end.runId !== this.agentRunId) return
    this.end = end
    this.#ended = addUsage(this.#ended, end.usage)
    this.#open = noUsage
  }
}

/**
 * Looks up a run in the log and calls `use` in the same tick. `undefined`: there is none. Rejects as the store does.
 */
export async function withPastRun<T>(
  { access, thread, runId }: { readonly access: AgentAccess; readonly thread: Thread; readonly runId: string },
  use: (past: PastRun | undefined) => T,
): Promise<T> {
  const { agent } = thread
  if (!thread.hadRun(runId) && !(await access.wasAsked(agent, requestIdOf(runId)))) return use(undefined)
  const past = new PastRun(runId)
  let next = 1
  // Records written meanwhile are read too, so that the result is up to date.
  do {
    await agent.wake()
    await agent.durable()
    for await (const record of access.records(agent.id, next)) {
      past.take(record, agent.id)
      next = record.seq + 1
    }
  } while (next !== agent.lastSeq + 1)
  return use(past)
}
