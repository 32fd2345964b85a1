import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import type { RunResult } from '../../../../src/protocol/runs/runResult.ts'
import type { AgentAccess } from '../../../bridge/src/server/agentAccess.ts'
import type { DrivenAgent } from '../../../bridge/src/server/drivenAgent.ts'
import { FollowedRun } from '../../../bridge/src/server/followedRun.ts'

/** Place at which a run is looked up. */
interface Place {
  readonly access: AgentAccess
  readonly agent: DrivenAgent
  readonly definition: AgentDefinition
}

/**
 * Resolves once the run is over, or `signal` is aborted; `undefined` if there is no such run. Rejects as the store does.
 */
export async function followRun(
  { access, agent, definition }: Place,
  requestId: string | undefined,
  signal: AbortSignal,
): Promise<RunResult | undefined> {
  const run = new FollowedRun(requestId, agent)
  let next = 1
  // Records written meanwhile are read too, so that nothing is missed before the events are heard.
  do {
    await agent.wake()
    await agent.durable()
    for await (const record of access.records(agent.id, next)) {
      run.take(record)
      next = record.seq + 1
    }
  } while (next !== agent.lastSeq + 1)
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
  return run.result(definition.output)
}
