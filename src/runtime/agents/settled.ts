import { idOfReporter, waitsForPeople } from '../../machines/callFacts.ts'
import type { CallState } from '../../machines/agentTypes.ts'
import { openChildren, type InnerCallsMade } from '../../protocol/parts/inner/innerState.ts'
import { RuntimeError, type ErrorInfo } from '../../protocol/errors.ts'
import type { Pending } from '../../protocol/runs/pending.ts'
import type { PauseReason } from '../../protocol/records.ts'
import type { TreeAgent } from '../children/treeAgent.ts'
import type { AgentHost } from './agentHost.ts'
import { pendingOf } from './agentTree.ts'

interface Place {
  /** `seq` of the agent's last record. The records up to it are as durable as the store guarantees, unless the store itself failed. */
  readonly seq: number
}

/** State of a settled agent, in whose tree nothing more happens by itself; told apart by `status`. */
export type Settled =
  /**
   * The agent and every agent below it are at rest: the next message starts a run. `reporters`: ids of agents that
   * work on their own, and of background calls, that will report to it.
   */
  | (Place & { readonly status: 'idle'; readonly reporters: readonly string[] })
  /** The agent continues once people decide: `pending` has its calls and questions and those of agents below it. */
  | (Place & { readonly status: 'waiting'; readonly pending: readonly Pending[] })
  /**
   * The agent continues once agent `agentId`, itself or one below it, is resumed. `reason`: a limit, a stall, an
   * interruption, or a store that failed.
   */
  | (Place & { readonly status: 'paused'; readonly agentId: string; readonly reason: PauseReason })
  /** The agent has ended here. `error`: its machine failed, or it was released (`AGENT_DETACHED`, `STORE_LEASE_LOST`). */
  | (Place & { readonly status: 'stopped'; readonly error?: ErrorInfo })

/** State of an agent with those below it. An object stands for a pause. */
type Standing = 'busy' | 'idle' | 'waiting' | { readonly agentId: string; readonly reason: PauseReason }

/**
 * Resolves once nothing more happens by itself in an agent and those below it, and its records are stored. Rejects
 * with the signal's reason and, for an unloaded agent with pending commands, with the errors of its load.
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export async function settled(agent: AgentHost, signal: AbortSignal | undefined): Promise<Settled> {
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new RuntimeError('INVALID_OPTION', `signal is of type ${typeof signal}, not an AbortSignal.`)
  const { machine } = agent
  for (;;) {
    signal?.throwIfAborted()
    if (!agent.isLoaded) {
      const { lastSeq: seq } = agent.view
      if (machine.state === 'stopped') return { status: 'stopped', seq }
      if (machine.unseen === 0 && !machine.isStopped) return { status: 'idle', seq, reporters: [] }
      await unlessAborted(
        agent.loaded(async () => {}),
        signal,
      )
      continue
    }
    if (machine.isStopped) {
      const error = await unlessAborted(machine.ended, signal)
      return { status: 'stopped', seq: agent.view.lastSeq, ...(error === null ? {} : { error }) }
    }
    const known = stands(agent)
    if (known === undefined) {
      await unlessAborted(change(agent), signal)
      continue
    }
    const writing = treeOf(agent).flatMap((one) => one.log.durable() ?? [])
    if (writing.length === 0) return known
    const written = await unlessAborted(Promise.allSettled(writing), signal)
    const now = agent.isLoaded ? stands(agent) : undefined
    if (now !== undefined && written.some(({ status }) => status === 'rejected')) return now
  }
}

/** Returns an agent with all live agents below it. Pure. */
export const treeOf = (agent: TreeAgent): TreeAgent[] => [agent, ...agent.family.live.flatMap(treeOf)]

/** Returns the state in which an agent is settled; `undefined` if it is not. */
function stands(agent: TreeAgent): Settled | undefined {
  const { lastSeq: seq } = agent.view.conversation
  const standing = standingOf(agent)
  if (standing === 'busy') return undefined
  if (standing === 'idle') return { status: 'idle', seq, reporters: agent.machine.context.reporters.map(idOfReporter) }
  if (standing !== 'waiting') return { status: 'paused', seq, ...standing }
  return { status: 'waiting', seq, pending: agent.announcer.clean(pendingOf(agent)) }
}

/** Returns the standing of an agent's tree. Waits for people take precedence, because paused agents may wait behind them. */
function standingOf(agent: TreeAgent): Standing {
  if (agent.machine.unseen > 0) return 'busy'
  const below = new Map(agent.family.live.map((child) => [child.agentId, standingOf(child)]))
  const all = [ownStanding(agent, below), ...below.values()]
  if (all.includes('busy')) return 'busy'
  if (all.includes('waiting')) return 'waiting'
  return all.find((one) => typeof one === 'object') ?? 'idle'
}

const isBusy = (standing: Standing | undefined): boolean =>
  standing === undefined || standing === 'busy' || standing === 'idle'

/** Returns true unless sub-agents carry out all inner calls that are not done. */
const isAtWork = ({ starts, ends }: InnerCallsMade, called: readonly unknown[]): boolean =>
  called.length === 0 || starts.filter(({ n }) => !ends.some((end) => end.n === n)).length > called.length

function ownStanding({ agentId, machine }: TreeAgent, below: ReadonlyMap<string, Standing>): Standing {
  const { state, context } = machine
  const { pause, calls, attached } = context
  // One that is being started again.
  if (attached.some(({ childId }) => !below.has(childId))) return 'busy'
  if (state === 'idle') return 'idle'
  if (state === 'paused' && pause !== null) return pause.type === 'approvals' ? 'waiting' : { agentId, reason: pause }
  if (state !== 'executing') return 'busy'
  const goesOn = (call: CallState): boolean => {
    if (call.status === 'settled' || call.status === 'paused' || waitsForPeople(call)) return false
    if (call.childId !== undefined) return isBusy(below.get(call.childId))
    // One that only waits for sub-agents that it called goes on when they do.
    const made = context.parts.inner?.[call.callId]
    const called = made === undefined ? [] : openChildren(made)
    return made === undefined || isAtWork(made, called) || called.some(({ childId }) => isBusy(below.get(childId)))
  }
  // It waits for what those below it wait for.
  return calls.some(goesOn) ? 'busy' : 'idle'
}

/** Resolves after the next change of an agent or of one below it, or when the agent ends. */
export function change({ machine, family }: AgentHost): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      unwatch()
      forget()
      resolve()
    }
    const unwatch = family.watch(look)
    const forget = machine.onEnd(look)
  })
}

/** Settles as `work` does, or rejects with the signal's reason if that aborts first. The work itself continues. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await work
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
