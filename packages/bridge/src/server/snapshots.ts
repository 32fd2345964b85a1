import { backgroundCalls } from '../../../../src/machines/background.ts'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { describePolicies } from '../../../../src/actors/define/describePolicies.ts'
import { addSpent } from '../../../../src/log/spent.ts'
import type { ConversationView } from '../../../../src/conversation/tree/conversationView.ts'
import type { PolicyInfo } from '../../../../src/protocol/braking.ts'
import type { Pending } from '../../../../src/protocol/runs/pending.ts'
import { pendingIn } from '../../../wire/src/pendingIn.ts'
import { earliestDue } from '../../../../src/machines/schedules.ts'
import type { ListedSchedule } from '../../../../src/protocol/parts/schedules/scheduleOptions.ts'
import type { AgentSummary } from '../../../wire/src/frames.ts'
import type { PauseReason } from '../../../../src/protocol/records.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import { hostOf } from '../../../../src/runtime/agents/agentFacts.ts'
import type { AgentHost } from '../../../../src/runtime/agents/agentHost.ts'
import type { AgentTree, PendingApproval } from '../../../../src/runtime/agents/agentTree.ts'
import { placedPending } from '../../../waking/src/waitingList.ts'
import { callLine } from '../../../charts/src/toolLine.ts'
import { outlineOf, type Outline } from '../../../../src/log/outline.ts'
import type { LoadedSession } from '../../../sessions/src/loadSession.ts'
import type { SourceInfo } from '../../../../src/protocol/toolsChange.ts'
import type { Permissions } from '../../../../src/protocol/parts/permissions/permissionState.ts'
import type { TurnUse } from '../../../../src/protocol/bridge/turns.ts'
import { outwardReason, withOutwardError } from './outwardError.ts'
import { visiblePending, visibleReason, visibleSummary, type View } from './visible.ts'

interface AgentSnapshot extends AgentSummary {
  readonly tree: AgentTree
  readonly asked: readonly Pending[]
  readonly approvals: readonly PendingApproval[]
  readonly pause: PauseReason | null
  readonly policies?: readonly PolicyInfo[]
  readonly sources?: readonly SourceInfo[]
  readonly use?: TurnUse
  readonly schedules?: readonly ListedSchedule[]
  readonly permissions?: Permissions
  readonly appState?: { readonly value: unknown; readonly version: number }
}

/** Fields of an agent's summary in a list besides its state. */
type Overview = Pick<AgentSummary, 'title' | 'last' | 'busySince' | 'activeAt' | 'doing' | 'contextTokens'>

interface Known {
  readonly outline: Outline
  readonly pause: PauseReason | null
  /** Context window in tokens, by the definition's compaction policy; `undefined` if unknown. */
  readonly window: number | undefined
  readonly doing: string
}

function overviewOf({ outline, pause, window, doing }: Known): Overview {
  const { title, busySince, activeAt, requestTokens } = outline
  // A run that waits for approvals is under way, but its agent is paused.
  const paused = pause === null ? undefined : ({ stopReason: 'paused', at: activeAt ?? 0, reason: pause } as const)
  const last = outline.last ?? paused
  return {
    ...(title === undefined ? {} : { title }),
    ...(last === undefined ? {} : { last: withOutwardError(last) }),
    ...(busySince === undefined ? {} : { busySince }),
    ...(activeAt === undefined ? {} : { activeAt }),
    ...(doing === '' ? {} : { doing }),
    ...(requestTokens === undefined
      ? {}
      : { contextTokens: { used: requestTokens, ...(window === undefined ? {} : { window }) } }),
  }
}

const windowOf = (definition: AgentDefinition | undefined): number | undefined =>
  definition?.compaction?.policy.contextWindow

/** Descriptions of calls in a few words, by their inputs, which may be large. */
const lines = new WeakMap<object, string>()

/** Describes the calls that tools or sub-agents currently carry out, followed by those in the background. */
function doingOf({ machine, announcer }: AgentHost): string {
  const { context } = machine
  const running = [...context.calls.filter(({ status }) => status === 'running'), ...backgroundCalls(context)]
  const [first] = running
  if (first === undefined) return ''
  const { name, input } = first
  const key = typeof input === 'object' && input !== null ? input : first
  // Cut only once it has no secrets: half of one would not be recognised.
  const line = lines.get(key) ?? callLine(name, announcer.clean(input))
  lines.set(key, line)
  const where = 'kind' in first ? ', in the background,' : ''
  return running.length === 1 ? `${line}${where.slice(0, -1)}` : `${line}${where} and ${running.length - 1} more`
}

/** Returns an agent in the form for lists. */
export function summaryOf(agent: Agent): AgentSummary {
  const host = hostOf(agent)
  const { metadata } = host
  const { spent, conversation } = host.view
  const { waiting, uncounted } = host.family.totals
  const { run } = host.machine.context
  const due = earliestDue(host.machine.context)
  return {
    agentId: agent.id,
    definition: agent.definition,
    ...(agent.active === agent.definition ? {} : { active: agent.active }),
    path: agent.path,
    state: agent.state,
    seq: agent.lastSeq,
    head: conversation.head,
    pendingApprovals: waiting.filter(({ kind }) => kind === 'approval').map(({ key }) => key),
    pending: waiting.map(({ key }) => key),
    spent,
    ...(uncounted === undefined ? {} : { treeSpent: addSpent(spent, uncounted) }),
    ...overview(host),
    ...(run === null ? {} : { limits: run.limits }),
    ...(due === null ? {} : { due }),
    ...(metadata === undefined ? {} : { metadata }),
  }
}

/** Returns a number that changes after each change of an agent or of its running descendants. */
export const versionOf = (agent: Agent): number => hostOf(agent).family.version

const overview = (host: AgentHost): Overview =>
  overviewOf({
    outline: host.view.outline,
    pause: host.machine.context.pause,
    window: windowOf(host.view.definition),
    doing: doingOf(host),
  })

/** Returns the snapshot of a running agent. */
export const snapshotOf = (agent: Agent): AgentSnapshot => ({
  ...summaryOf(agent),
  tree: agent.tree(),
  asked: placedPending(agent).map(({ pending }) => pending),
  approvals: agent.approvals(),
  pause: agent.pause === null ? null : outwardReason(agent.pause),
  policies: agent.policies,
  ...(agent.sources.length === 0 ? {} : { sources: agent.sources }),
  ...(agent.inUse === null ? {} : { use: agent.inUse }),
  ...(agent.schedules().length === 0 ? {} : { schedules: agent.schedules() }),
  ...permissionsIn(agent),
  ...stateIn(agent.conversation, hostOf(agent).ownDefinition),
})

/** Returns the application state of an agent, if it or its definition, as far as known, has one. */
export function stateIn(
  { state }: ConversationView,
  definition: AgentDefinition | undefined,
): Pick<AgentSnapshot, 'appState'> {
  if (state !== undefined) return { appState: { value: state.value, version: state.version } }
  const setting = definition?.state ?? null
  return setting === null ? {} : { appState: { value: setting.initial, version: 0 } }
}

const permissionsIn = (agent: Agent): Pick<AgentSnapshot, 'permissions'> => {
  const permissions = agent.permissions()
  return permissions === null ? {} : { permissions }
}

/**
 * Returns the state of an agent that does not run, according to its log, with the policies of the definition with which a command would wake it.
 * `here`: the agent, if this process has unloaded it.
 */
export function storedSnapshot(
  session: LoadedSession,
  wakesWith: AgentDefinition | undefined,
  here?: Agent,
): AgentSnapshot {
  const { id, definition, path, metadata, conversation, runs, usage, costUsd, isStopped } = session
  const seq = session.records.at(-1)?.seq ?? 0
  // With more in its log another process has taken it since.
  const resting = here?.lastSeq === seq && !isStopped ? here : undefined
  const state = isStopped ? 'stopped' : (resting?.state ?? 'closed')
  const asked = heldCalls(session)
  const approvals = asked.flatMap((one) => {
    if (one.kind !== 'approval') return []
    const { agentId, callId, key, name, input } = one
    return [{ agentId, callId, key, name, input }]
  })
  return {
    agentId: id,
    definition,
    path,
    state,
    seq,
    head: conversation.head,
    pendingApprovals: approvals.map(({ key }) => key),
    pending: asked.map(({ key }) => key),
    ...overviewOf({
      outline: outlineOf(session.records, session.past),
      pause: session.last?.reason ?? null,
      window: windowOf(wakesWith),
      doing: '',
    }),
    spent: { usage, costUsd, turns: runs.reduce((sum, run) => sum + run.turns.length, 0) },
    ...(metadata === undefined ? {} : { metadata }),
    tree: { id, definition, state, children: [] },
    asked,
    approvals,
    pause: null,
    ...(wakesWith === undefined ? {} : { policies: describePolicies(wakesWith) }),
    ...(resting === undefined || resting.sources.length === 0 ? {} : { sources: resting.sources }),
    ...(resting === undefined || resting.inUse === null ? {} : { use: resting.inUse }),
    ...stateIn(conversation, wakesWith),
  }
}

/** Returns a snapshot as a client may see it. If it sees only messages, there are no `policies`, `sources`, `use`, `permissions` or `appState`. */
export function visibleSnapshot(snapshot: AgentSnapshot, view: View): Partial<AgentSnapshot> {
  if (view === 'all') return snapshot
  const {
    policies: _,
    sources: __,
    use: ___,
    appState: ____,
    schedules: _____,
    permissions: ______,
    ...shown
  } = visibleSummary(snapshot, view)
  return {
    ...shown,
    pause: snapshot.pause === null ? null : visibleReason(snapshot.pause),
    asked: snapshot.asked.map((one) => visiblePending(one, view)),
    approvals: snapshot.approvals.map((one) => visiblePending(one, view)),
  }
}

/** Returns the calls and questions that wait for people, or will wait again once the agent runs. */
function heldCalls({ id, runs, records, isStopped }: LoadedSession): Pending[] {
  const open = isStopped ? [] : runs.filter(({ status }) => status !== 'aborted')
  const calls = open.flatMap(({ turns }) => turns).flatMap(({ toolCalls }) => toolCalls)
  const held = new Set(calls.filter(({ status }) => status === 'held').map(({ callId }) => callId))
  const asked = new Map<string, Pending>()
  for (const record of records) {
    const pending = pendingIn(id, record)
    // What was asked last is what it waits for.
    if (pending !== undefined && held.has(pending.callId)) asked.set(pending.callId, pending)
  }
  return [...asked.values()]
}
