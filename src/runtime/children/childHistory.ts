import type { Callee } from '../../actors/define/agentDefinition.ts'
import { expectedTurns } from '../../conversation/limits/tokenCounter.ts'
import type { OpenInput } from '../../machines/supervisorTypes.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import type { ParentLink } from '../../protocol/parentLink.ts'
import { recordVersion, type LogRecord } from '../../protocol/records.ts'
import { outlineOf } from '../../log/outline.ts'
import { readHistory, type History } from '../../log/readHistory.ts'
import type { Store } from '../../protocol/ports/store.ts'
import type { TreeAgent } from './treeAgent.ts'

/**
 * Returns the history that a sub-agent continues from: its log or, for a new fork, its parent's trunk, which is
 * written here. `undefined` for a new agent.
 *
 * @throws RuntimeError `AGENT_STOPPED`, `CHILD_REFUSED` when the log belongs to another agent
 */
export function childHistory(
  parent: TreeAgent,
  agent: Callee,
  child: ChildLog & { readonly isNew: boolean },
): Promise<History | undefined> {
  return child.isNew ? newHistory(parent, agent, child) : oldHistory(agent, child)
}

/** Returns the link of a sub-agent to its parent. The link is recorded with the sub-agent, so that the parent's facts hold after a restart. */
export function linkTo(
  parent: TreeAgent,
  agent: Callee,
  { agentId, runId, turnIndex, ...input }: OpenInput,
): ParentLink {
  const expected = expectedTurns(parent.view.conversation.measured, input.name)
  return {
    agentId,
    runId,
    turnIndex,
    ...(input.callId === null ? {} : { callId: input.callId }),
    ...(agent.detach === 'report' ? { reports: input.key } : {}),
    ...(expected === undefined ? {} : { expected }),
  }
}

interface ChildLog {
  readonly childId: string
  readonly link: ParentLink
  /** Store of the sub-agent's log. */
  readonly store: Store
}

async function oldHistory(agent: Callee, { childId, link, store }: ChildLog): Promise<History> {
  const history = await readHistory(store, childId)
  const { parent, definition } = history.created
  if (history.records.at(-1)?.type === 'agent.stopped')
    throw new RuntimeError('AGENT_STOPPED', `Agent "${childId}" was stopped for good.`)
  const isSame = parent?.agentId === link.agentId && (agent.continuable || parent.callId === link.callId)
  if (isSame && definition === agent.definition.name) return history
  throw new RuntimeError('CHILD_REFUSED', `The log of agent "${childId}" is that of another.`)
}

async function newHistory(
  parent: TreeAgent,
  agent: Callee,
  { childId, link, store }: ChildLog,
): Promise<History | undefined> {
  const { head, lastSeq } = parent.view.conversation
  if (agent.context === 'own' || head === null) return undefined
  await parent.log.durable()
  const source = await readHistory(parent.store, link.agentId)
  const { name, model } = agent.definition
  const past = [...source.past, ...source.records.filter(({ seq }) => seq <= lastSeq)]
  // A call gives it a task of its own.
  const { title } = link.callId === undefined ? outlineOf(past) : {}
  const created = {
    v: recordVersion,
    seq: 1,
    time: parent.shared.clock.now(),
    type: 'agent.created',
    agentId: childId,
    path: [...parent.path, link.agentId],
    definition: name,
    model: model.id,
    machine: source.created.machine,
    parent: link,
    forkedFrom: { agentId: link.agentId, seq: lastSeq, at: head },
    ...(title === undefined ? {} : { title }),
    ...(parent.metadata === undefined ? {} : { metadata: parent.metadata }),
  } as const satisfies LogRecord
  await store.append(childId, [created])
  return { created, past, records: [created] }
}

/** Returns the progress of a sub-agent's task according to its log, and the id of its next run. */
export function beginning(
  history: History | undefined,
  key: string,
): { readonly id: string; readonly isBegun: boolean; readonly isQueued: boolean } {
  const records = history?.records ?? []
  const isStarted = records.some(({ type }) => type === 'run.start')
  return {
    id: isStarted ? `${key}/life/${records.length}` : key,
    // A crash may have come between a run's start and its message.
    isBegun: records.some(({ type }) => type === 'message.added'),
    isQueued: records.some((record) => record.type === 'queue.changed' && record.added?.id === key),
  }
}
