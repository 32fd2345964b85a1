import type { AgentContext, CallReporter, CallState } from '../../machines/agentTypes.ts'
import { backgroundCalls } from '../../machines/background.ts'
import type { TreeAgent } from '../children/treeAgent.ts'
import type { Pending } from '../../protocol/runs/pending.ts'

/** An agent and the living agents below it. */
export interface AgentTree {
  readonly id: string
  readonly definition: string
  /** Name of the chart's active state. */
  readonly state: string
  readonly children: readonly AgentTree[]
}

/** A call that waits for a decision. */
export interface PendingApproval {
  readonly agentId: string
  readonly callId: string
  /** Unique across all agents; any ancestor can decide the call by it. */
  readonly key: string
  readonly name: string
  readonly input: unknown
}

export const treeOf = (host: TreeAgent): AgentTree => ({
  id: host.agentId,
  definition: host.view.definition.name,
  state: host.machine.state,
  children: host.family.listed.map(treeOf),
})

/** The host of an agent in the tree below this one, itself included. */
export function hostOf(host: TreeAgent, agentId: string): TreeAgent | undefined {
  if (host.agentId === agentId) return host
  for (const child of host.family.listed) {
    const found = hostOf(child, agentId)
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns true if nothing below continues before people decide something. */
export function waitsForPeople({ state, children }: AgentTree): boolean {
  const busy = children.filter((child) => child.state !== 'idle' && child.state !== 'stopped')
  return busy.every(waitsForPeople) && (state === 'paused' || (state === 'executing' && busy.length > 0))
}

/** Returns true if nothing can continue before something is decided, in the agent or in the sub-agents it waits for. */
export const awaitsDecision = (agent: { pending(): readonly unknown[]; tree(): AgentTree }): boolean =>
  agent.pending().length > 0 && waitsForPeople(agent.tree())

/** Returns the agent's own calls that wait for an approval; none while their run waits for `resume`. */
const heldIn = ({ machine }: Pick<TreeAgent, 'machine'>): readonly CallState[] => {
  const { calls, run } = machine.context
  return run === null ? [] : calls.filter(({ status }) => status === 'held')
}

export function approvalsOf(host: TreeAgent): PendingApproval[] {
  return [
    ...heldIn(host).map(({ callId, key, name, input }) => ({ agentId: host.agentId, callId, key, name, input })),
    ...host.family.listed.flatMap(approvalsOf),
  ]
}

/** Calls and questions that wait for people, of an agent and of those below it. */
export const pendingOf = (host: TreeAgent): Pending[] => [
  ...ownPending(host.agentId, host.machine.context),
  ...host.family.listed.flatMap(pendingOf),
]

/** An agent's own calls that wait for people. */
export const ownPending = (
  agentId: string,
  { calls, run, reporters }: Pick<AgentContext, 'calls' | 'run' | 'reporters'>,
): Pending[] => [
  ...(run === null ? [] : calls.flatMap((call) => pendingCall(agentId, call) ?? [])),
  // Whatever its agent does meanwhile.
  ...backgroundCalls({ reporters }).flatMap((call) => pendingInBackground(agentId, call) ?? []),
]

function pendingInBackground(
  agentId: string,
  { id: background, callId, name, input, question, askedAt, reported }: CallReporter,
): Pending | undefined {
  if (question === undefined || reported !== undefined) return undefined
  const since = askedAt === undefined ? {} : { askedAt }
  return { kind: 'question', agentId, callId, name, input, ...question, background, ...since }
}

function pendingCall(
  agentId: string,
  { callId, key, name, input, status, question, irreversible, suggest, asks }: CallState,
): Pending | undefined {
  const call = { agentId, callId, key, name, input }
  switch (status) {
    case 'held':
      return {
        kind: 'approval',
        ...call,
        ...(irreversible === undefined ? {} : { irreversible }),
        ...(suggest === undefined ? {} : { suggest }),
      }
    case 'asking':
    case 'asked':
      if (asks !== undefined) return { kind: 'approval', agentId, ...asks }
      return { kind: 'question', ...call, ...question! }
    case 'requested':
      return { kind: 'call', ...call }
    case 'sleeping':
    case 'ready':
    case 'checking':
    case 'running':
    case 'paused':
    case 'settled':
      return undefined
  }
}
