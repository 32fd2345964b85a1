import { isFields } from '../../../src/protocol/checks/isObject.ts'
import type { JsonPatch } from '@ag-ui/core'
import { formatNodeId } from '../../../src/protocol/ids.ts'
import { messageOf, RuntimeError } from '../../../src/protocol/errors.ts'
import { difference, type StateOp } from '../../../src/protocol/parts/state/patch.ts'
import { plainState } from '../../../src/protocol/parts/state/plainState.ts'
import type { Usage } from '../../../src/protocol/messages.ts'
import type { DrivenAgent } from '../../bridge/src/server/drivenAgent.ts'

/** AG-UI state of an agent, as front ends see it. */
export interface ThreadState {
  readonly agentId: string
  /** Name of the chart's active state. */
  readonly state: string
  /** Id of the newest node, such as `n12`; `null` before the first message. */
  readonly head: string | null
  /** Tokens used over the agent's lifetime, sub-agents included. */
  readonly usage: Usage
  readonly pendingApprovals: readonly {
    readonly interruptId: string
    readonly agentId: string
    readonly callId: string
    readonly name: string
  }[]
  /** Live sub-agents, oldest first. */
  readonly children: readonly { readonly id: string; readonly definition: string; readonly state: string }[]
}

function threadStateOf(agent: DrivenAgent): ThreadState {
  const { head } = agent.conversation
  return {
    agentId: agent.id,
    state: agent.state,
    head: head === null ? null : formatNodeId(head),
    usage: agent.spent.usage,
    pendingApprovals: agent
      .approvals()
      .map(({ key, agentId, callId, name }) => ({ interruptId: key, agentId, callId, name })),
    children: agent.tree().children.map(({ id, definition, state }) => ({ id, definition, state })),
  }
}

/** Thread state of an agent that has a state of its own: that state, with everything else in its field `_agent`. */
interface SharedState {
  readonly [field: string]: unknown
  readonly _agent: ThreadState & { readonly stateVersion: number }
}

/** The state of a thread, as front ends see it. */
export type ShownState = ThreadState | SharedState

export function shownStateOf(agent: DrivenAgent): ShownState {
  const state = threadStateOf(agent)
  const { appState, stateVersion = 0 } = agent
  return isFields(appState) ? { ...appState, _agent: { ...state, stateVersion } } : state
}

const isShared = (state: ShownState): state is SharedState => '_agent' in state

/** Returns the change from one state to the next. Empty if there is none. */
export function stateChange(before: ShownState, after: ShownState): JsonPatch {
  if (!isShared(before) || !isShared(after))
    return isShared(before) === isShared(after)
      ? entryChanges(before as ThreadState, after as ThreadState)
      : whole(after)
  const { _agent: agentBefore, ...own } = before
  const { _agent: agent, ...next } = after
  const ops = difference(own, next)
  if (ops.some(({ path }) => path === '')) return whole(after)
  return [...ops, ...entryChanges(agentBefore, agent).map((op) => ({ ...op, path: `/_agent${op.path}` }))] as JsonPatch
}

const whole = (value: ShownState): JsonPatch => [{ op: 'replace', path: '', value }]

/**
 * Returns a client's changes to the state that it was shown, for the command `agent.state`. `undefined`: none. A state
 * without `_agent` is of a page that made one of its own, as `setState` of CopilotKit does: its fields count, but only
 * if the page `isCurrent`, so that what a page begins with does not undo what has happened in the thread since.
 * @throws RuntimeError `STATE_INVALID`
 */
export function changedBy(
  agent: DrivenAgent,
  state: unknown,
  isCurrent: () => boolean,
): { patch: StateOp[]; base: number } | undefined {
  const { appState, stateVersion = 0, conversation } = agent
  if (!isFields(state) || !isFields(appState)) return undefined
  const { _agent: shown, ...value } = state as { readonly _agent?: unknown }
  if (!('_agent' in state)) {
    if (Object.keys(value).length === 0 || !isCurrent()) return undefined
    return changeOf(difference(appState, plain({ ...appState, ...value })), stateVersion)
  }
  const base: unknown = isFields(shown) ? (shown as { readonly stateVersion?: unknown }).stateVersion : undefined
  if (typeof base !== 'number') return undefined
  return changeOf(difference(conversation.state?.valueAt(base) ?? appState, plain(value)), base)
}

const changeOf = (patch: StateOp[], base: number): { patch: StateOp[]; base: number } | undefined =>
  patch.length === 0 ? undefined : { patch, base }

function plain(value: unknown): unknown {
  try {
    return plainState(value)
  } catch (thrown) {
    throw new RuntimeError('STATE_INVALID', `state: ${messageOf(thrown)}.`)
  }
}

/** Returns the changes of whole entries. */
const entryChanges = <T extends object>(before: T, after: T): { op: 'replace'; path: string; value: unknown }[] =>
  (Object.keys(after) as (keyof T & string)[])
    .filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
    .map((key) => ({ op: 'replace', path: `/${key}`, value: after[key] }))
