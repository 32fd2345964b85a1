import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { DrivenAgent } from '../../bridge/src/server/drivenAgent.ts'
import { Thread } from './thread.ts'

/** Options of the endpoint. */
export interface Rules {
  /** Threads by agent. */
  readonly threads: WeakMap<DrivenAgent, Thread>
  /** Definition for all threads. */
  readonly definition: string | undefined
}

/** Returns the thread of a root agent. @throws RuntimeError `INVALID_OPTION` for a sub-agent */
export function threadOf(agent: DrivenAgent, { threads }: Rules): Thread {
  if (agent.parent !== undefined || agent.path.length > 0) {
    throw new RuntimeError('INVALID_OPTION', `threadId: agent "${agent.id}" is a sub-agent; talk with its root.`)
  }
  const thread = threads.get(agent) ?? new Thread(agent)
  threads.set(agent, thread)
  return thread
}
