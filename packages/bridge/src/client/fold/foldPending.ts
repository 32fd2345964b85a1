import type { AgentEvent } from '../../../../../src/protocol/events.ts'
import type { Pending } from '../../../../../src/protocol/runs/pending.ts'
import { pendingIn } from '../../../../wire/src/pendingIn.ts'
import type { Chat, ChatPending } from './chat.ts'

/** Calls and questions that people have not answered. */
export type Asked = Pick<Chat, 'pending' | 'resting'>

export const nothingAsked: Asked = { pending: [], resting: [] }

/** Facts about an event that the event itself does not contain. */
interface Known {
  /** The followed agent. Waiting calls may belong to its descendants. */
  readonly agentId: string
  /** Sub-agent that carried the call out, if the event ends a call of the agent. */
  readonly childId?: string | undefined
}

/** Returns the unanswered calls and questions after an event, oldest first; the same object if the event changes none. Pure. */
export function foldPending(before: Asked, event: AgentEvent, known: Known): Asked {
  const { pending, resting } = before
  const asked = pendingIn(event.agentId, event)
  if (asked !== undefined) {
    const isIt: Fits = ({ key }) => key === asked.key
    return { pending: [...without(pending, isIt), { ...asked, path: event.path }], resting: without(resting, isIt) }
  }
  // Those in the background wait on, whatever run there is.
  const isIts: Fits = (one) => one.agentId === event.agentId && backgroundOf(one) === undefined
  if (event.type === 'run.end') return moved(before, ['pending', 'resting'], isIts)
  if (event.type === 'run.start') return moved(before, ['resting', 'pending'], isIts)
  const isOver = endedBy(event, known)
  const left = { pending: without(pending, isOver), resting: without(resting, isOver) }
  return left.pending === pending && left.resting === resting ? before : left
}

type Fits = (pending: ChatPending) => boolean

/** Moves the fitting entries of one list to the front of the other, replacing entries with the same keys. */
function moved(before: Asked, [from, to]: readonly (keyof Asked)[], fits: Fits): Asked {
  const some = before[from!].filter(fits)
  if (some.length === 0) return before
  const isThere: Fits = ({ key }) => some.some((one) => one.key === key)
  return { ...before, [from!]: without(before[from!], fits), [to!]: [...some, ...without(before[to!], isThere)] }
}

/** Returns the id of the background call that asks; `undefined` for any other entry. */
const backgroundOf = (one: ChatPending): string | undefined => (one.kind === 'question' ? one.background : undefined)

const nothing: Fits = () => false

/** Returns a test for the calls and questions that an event answers or withdraws. */
function endedBy(event: AgentEvent, { agentId, childId }: Known): Fits {
  const isOwn = event.agentId === agentId
  switch (event.type) {
    case 'approval.decided':
    case 'question.answered':
      return ({ key }) => key === event.key
    case 'tool.end':
      return (one) =>
        (one.agentId === event.agentId && (one.callId === event.callId || one.key.startsWith(`${event.key}/`))) ||
        (isOwn && isBelow(one, childId))
    case 'call.reported':
      return (one) => one.agentId === event.agentId && one.key.startsWith(`${event.key}/`)
    case 'revert.applied': {
      const gone = (event.tag?.evidence.background ?? []).flatMap(({ id, aborted }) => (aborted ? [id] : []))
      return (one) => one.agentId === event.agentId && gone.includes(backgroundOf(one) ?? '')
    }
    case 'child.ended':
      return isOwn ? (one) => isBelow(one, event.childId) : nothing
    case 'agent.stopped':
      return isOwn ? () => true : nothing
    default:
      return nothing
  }
}

const isBelow = ({ agentId, path }: ChatPending, childId: string | undefined): boolean =>
  childId !== undefined && (agentId === childId || path.includes(childId))

const without = (pending: readonly ChatPending[], fits: Fits): readonly ChatPending[] =>
  pending.some(fits) ? pending.filter((one) => !fits(one)) : pending

interface Tree {
  readonly id: string
  readonly children: readonly Tree[]
}

/** Part of an agent's snapshot that concerns people; a server of an older version sends only approvals. */
interface Snapshot {
  readonly path: readonly string[]
  readonly tree: Tree
  readonly asked?: readonly Pending[]
  readonly approvals: readonly Omit<Extract<Pending, { kind: 'approval' }>, 'kind'>[]
}

/** Returns the calls and questions that wait for people according to a snapshot. Pure. */
export function pendingOf({ asked, approvals, tree, path }: Snapshot): readonly ChatPending[] {
  const paths = new Map<string, readonly string[]>()
  const place = ({ id, children }: Tree, above: readonly string[]): void => {
    paths.set(id, above)
    for (const child of children) place(child, [...above, id])
  }
  place(tree, path)
  const waiting = asked ?? approvals.map((call) => ({ kind: 'approval' as const, ...call }))
  return waiting.map((one) => ({ ...one, path: paths.get(one.agentId) ?? [] }))
}
