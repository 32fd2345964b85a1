import type { AgentContext, CallState } from '../../machines/agentTypes.ts'
import type { CallReporter } from '../../machines/reporters.ts'
import { backgroundCalls } from '../../machines/background.ts'
import type { TreeAgent, WaitingCall } from '../children/treeAgent.ts'
import type { Pending } from '../../protocol/runs/pending.ts'

type Waiting = Pick<AgentContext, 'calls' | 'run' | 'reporters'>

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
  /** Key of the call, unique across all agents. Any ancestor can decide the call by it. */
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

/** Returns the host of an agent in the tree below this one, which may be this one. */
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

/** Returns the calls and questions that wait for people, of an agent and of those below it. */
export const pendingOf = (host: TreeAgent): Pending[] => [
  ...ownPending(host.agentId, host.machine.context),
  ...host.family.listed.flatMap(pendingOf),
]

/** Returns the same as `pendingOf`, without those decided a moment ago, whose record is still being written. */
export const undecidedOf = (host: TreeAgent): Pending[] =>
  pendingOf(host).filter(({ agentId, key }) => hostOf(host, agentId)?.ports.answers.isDecided(key) !== true)

/** Returns an agent's own calls that wait for people. */
export const ownPending = (agentId: string, { calls, run, reporters }: Waiting): Pending[] => [
  ...(run === null ? [] : calls.flatMap((call) => pendingCall(agentId, call) ?? [])),
  // Whatever its agent does meanwhile.
  ...backgroundCalls({ reporters }).flatMap((call) => pendingInBackground(agentId, call) ?? []),
]

/** Returns the question of a background call that waits for an answer. */
const openQuestion = ({ question, reported }: CallReporter): CallReporter['question'] =>
  reported === undefined ? question : undefined

function pendingInBackground(agentId: string, call: CallReporter): Pending | undefined {
  const question = openQuestion(call)
  if (question === undefined) return undefined
  const { id: background, callId, name, input, askedAt } = call
  const since = askedAt === undefined ? {} : { askedAt }
  return { kind: 'question', agentId, callId, name, input, ...question, background, ...since }
}

function pendingCall(agentId: string, state: CallState): Pending | undefined {
  const waits = waitingCall(state)
  if (waits === undefined) return undefined
  const { callId, name, input, question, irreversible, suggest, asks } = state
  const { kind, key } = waits
  const call = { agentId, callId, key, name, input }
  if (kind === 'question') return { kind, ...call, ...question! }
  if (kind === 'call') return { kind, ...call }
  if (asks !== undefined) return { kind, agentId, ...asks }
  return {
    kind,
    ...call,
    ...(irreversible === undefined ? {} : { irreversible }),
    ...(suggest === undefined ? {} : { suggest }),
  }
}

/** Returns an agent's own calls that wait for people, by kind and key. */
export function waitingCalls({ calls, run, reporters }: Waiting): WaitingCall[] {
  const waiting: WaitingCall[] = []
  for (const call of run === null ? [] : calls) {
    const waits = waitingCall(call)
    if (waits !== undefined) waiting.push(waits)
  }
  for (const call of reporters.length === 0 ? [] : backgroundCalls({ reporters })) {
    const question = openQuestion(call)
    if (question !== undefined) waiting.push({ kind: 'question', key: question.key })
  }
  return waiting
}

/** Returns the kind and the key by which people decide about a call; `undefined` if it does not wait for them. */
function waitingCall({ key, status, question, asks }: CallState): WaitingCall | undefined {
  switch (status) {
    case 'held':
      return { kind: 'approval', key }
    case 'asking':
    case 'asked':
      // A call that the running one makes waits for an approval.
      return asks === undefined ? { kind: 'question', key: question!.key } : { kind: 'approval', key: asks.key }
    case 'requested':
      return { kind: 'call', key }
    case 'sleeping':
    case 'ready':
    case 'checking':
    case 'running':
    case 'paused':
    case 'settled':
      return undefined
  }
}
