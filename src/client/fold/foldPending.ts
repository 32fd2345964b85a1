import type { AgentEvent } from '../../protocol/events.ts'
import type { Pending } from '../../protocol/pending.ts'
import { pendingIn } from '../../protocol/pendingIn.ts'
import type { ChatPending } from './chat.ts'

/** What is known of an event beside it. */
interface Known {
  /** The agent that is followed; what waits may be of one below it. */
  readonly agentId: string
  /** Of the end of one of its calls: the sub-agent that carried it out. */
  readonly childId?: string | undefined
}

/** What still waits for people after an event, oldest first; the same array if the event changes nothing of that. Pure. */
export function foldPending(pending: readonly ChatPending[], event: AgentEvent, known: Known): readonly ChatPending[] {
  const asked = pendingIn(event.agentId, event)
  if (asked === undefined) return without(pending, endedBy(event, known))
  return [...pending.filter(({ key }) => key !== asked.key), { ...asked, path: event.path }]
}

type Fits = (pending: ChatPending) => boolean

const nothing: Fits = () => false

/** What an event says waits no longer. */
function endedBy(event: AgentEvent, { agentId, childId }: Known): Fits {
  const isOwn = event.agentId === agentId
  switch (event.type) {
    case 'approval.decided':
    case 'question.answered':
      return ({ key }) => key === event.key
    case 'tool.end':
      return (one) => (one.agentId === event.agentId && one.callId === event.callId) || (isOwn && isBelow(one, childId))
    case 'child.ended':
      return isOwn ? (one) => isBelow(one, event.childId) : nothing
    case 'run.end':
      return isOwn ? (one) => one.agentId === agentId : nothing
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

/** What a snapshot of an agent says of people; a server of an older version knows only approvals. */
interface Snapshot {
  readonly path: readonly string[]
  readonly tree: Tree
  readonly asked?: readonly Pending[]
  readonly approvals: readonly Omit<Extract<Pending, { kind: 'approval' }>, 'kind'>[]
}

/** What waits for people, as a server says. Pure. */
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
