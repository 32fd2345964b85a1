import type { TreeAgent } from '../children/treeAgent.ts'
import type { AgentHost } from './agentHost.ts'
import { change, treeOf } from './settled.ts'

/**
 * Lets calls and replies under way in an agent and below it end, and no call begin. Resolves once that is so, or after `ms`: the agent can then be let
 * go of without cutting any of them off.
 */
export async function windDown(agent: AgentHost, ms: number): Promise<void> {
  const turns = new Map(treeOf(agent).map((one) => [one.agentId, one.machine.context.turns]))
  for (const one of treeOf(agent)) one.machine.tell({ type: 'leave' })
  const late = Promise.withResolvers<'late'>()
  const cancel = agent.shared.clock.after(ms, () => late.resolve('late'))
  while (!agent.machine.isStopped && treeOf(agent).some((one) => isBusy(one, turns.get(one.agentId))))
    if ((await Promise.race([change(agent), late.promise])) === 'late') break
  cancel()
}

/** Tells whether something is under way that would have to be done again, or must not be. `turns`: those it had when it was told to wind down. */
function isBusy({ machine }: TreeAgent, turns: number | undefined): boolean {
  const { calls, background, undoing } = machine.context
  // A sub-agent goes on from its own log.
  if (calls.some(({ status, childId }) => status === 'running' && childId === undefined)) return true
  if (background.length > 0 || undoing !== null) return true
  // A reply that began since belongs to who goes on with it.
  return machine.state.startsWith('replying') && machine.context.turns === turns
}
