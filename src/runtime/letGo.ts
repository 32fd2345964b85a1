import { type ErrorInfo, RuntimeError } from '../protocol/errors.ts'
import type { AgentHost } from './agents/agentHost.ts'
import type { TreeAgent } from './children/treeAgent.ts'
import { checkStored } from './resumable.ts'
import { change, treeOf } from './agents/settled.ts'

/**
 * Checks that an agent can be released by itself.
 * @throws RuntimeError `AGENT_NOT_FOUND`, `AGENT_INCOGNITO`, `INVALID_OPTION` for a sub-agent
 */
export function checkDetachable(agentId: string, host: AgentHost | undefined): asserts host is AgentHost {
  if (host === undefined) throw new RuntimeError('AGENT_NOT_FOUND', `No agent "${agentId}" runs here.`)
  checkStored(host, 'detach')
  const { parent } = host
  if (parent !== undefined)
    throw new RuntimeError(
      'INVALID_OPTION',
      `detach: "${agentId}" is a sub-agent of "${parent.agentId}", with which it goes.`,
    )
}

/** Returns the root of an agent's tree. A process that has one agent's log has taken the whole tree, or a part that the rest needs. Pure. */
export const rootOf = (agent: TreeAgent): TreeAgent => (agent.parent === undefined ? agent : rootOf(agent.parent))

/**
 * Ends an agent here with every live agent below it, even in the middle of their work, without a record in their logs. Effects are aborted, and
 * callers that wait for a run get `why`. Resolves once their logs are written as far as they had come, and free. Rejects as `release` does.
 */
export async function letGo(
  agent: TreeAgent,
  why: ErrorInfo,
  hosts: { release(agent: TreeAgent): Promise<void> },
): Promise<void> {
  const tree = treeOf(agent)
  agent.machine.letGo(why)
  await Promise.all(tree.flatMap((one) => one.family.released() ?? []))
  await hosts.release(agent)
}

/** Options for the release of an agent. */
export interface DetachOptions {
  /**
   * Time in which current calls and replies, of the agent and below it, may end, in milliseconds. No call begins
   * meanwhile, and longer ones are cut off. Default 0.
   */
  readonly drainMs?: number
}

/** Options for closing a runtime. */
export interface ClosingOptions {
  /** Releases every agent like `detach`, instead of aborting its run. Default `false`. */
  readonly detach?: boolean
  /** Time for `detach`, in milliseconds, as in `runtime.detach`. */
  readonly drainMs?: number
}

/** Releases an agent without a parent; an incognito one is closed. Rejects with the store's errors. */
export async function detachHost(
  host: AgentHost,
  hosts: { release(agent: TreeAgent): Promise<void>; releaseHost(host: AgentHost): Promise<void> },
  { drainMs = 0 }: DetachOptions = {},
): Promise<void> {
  if (drainMs > 0 && host.isLoaded) {
    await windDown(host, drainMs)
    // Somebody else has ended it meanwhile.
    if (host.isLoaded && host.machine.isStopped) return
  }
  if (host.incognito !== true && (host.isLoaded || host.machine.unseen > 0))
    return await host.loaded((agent) => letGo(agent, detachedHere(host.agentId), hosts))
  await host.machine.end('close')
  await hosts.releaseHost(host)
}

const detachedHere = (agentId: string): ErrorInfo => ({
  code: 'AGENT_DETACHED',
  message: `Agent "${agentId}" was let go of here; it goes on from its log where it is opened.`,
})

/**
 * Lets current calls and replies in an agent and below it end, and no call begin. Resolves once they have ended, or
 * after `ms`. The agent can then be released without cutting off any of them.
 */
async function windDown(agent: AgentHost, ms: number): Promise<void> {
  const turns = new Map(treeOf(agent).map((one) => [one.agentId, one.machine.context.turns]))
  for (const one of treeOf(agent)) one.machine.tell({ type: 'leave' })
  const late = Promise.withResolvers<'late'>()
  const cancel = agent.shared.clock.after(ms, () => late.resolve('late'))
  while (!agent.machine.isStopped && treeOf(agent).some((one) => isBusy(one, turns.get(one.agentId))))
    if ((await Promise.race([change(agent), late.promise])) === 'late') break
  cancel()
}

/** True if the agent has work in progress that would have to be repeated, or must not be. `turns`: its turns when it was told to wind down. */
function isBusy({ machine }: TreeAgent, turns: number | undefined): boolean {
  const { calls, background, undoing } = machine.context
  // A sub-agent goes on from its own log.
  if (calls.some(({ status, childId }) => status === 'running' && childId === undefined)) return true
  if (background.length > 0 || undoing !== null) return true
  // A reply that began since belongs to who goes on with it.
  return machine.state.startsWith('replying') && machine.context.turns === turns
}
