import type { WaitingAgent } from '../../../../src/protocol/runs/pending.ts'
import { inOrder, waitingAgent, WaitingList } from '../../../waking/src/waitingList.ts'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { ClientFrame, SessionEntry } from '../../../wire/src/frames.ts'
import { defaultSearchLimit } from '../../../../src/protocol/ports/logSearch.ts'
import { hasMetadata } from '../../../../src/protocol/metadata.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { defaultLimit, pageOf, sessionEntry } from '../../../bridge/src/server/listPages.ts'
import { SessionIndex } from '../../../bridge/src/server/sessionIndex.ts'
import { storedSnapshot } from '../../../bridge/src/server/snapshots.ts'
import { forkSession } from '../../../sessions/src/forkSession.ts'
import { listSessions } from '../../../sessions/src/listSessions.ts'
import { loadSession } from '../../../sessions/src/loadSession.ts'
import { createdRecord } from '../../../../src/log/readHistory.ts'
import { spendOf } from '../../../sessions/src/spend/spendOf.ts'
import { inGroups, optionsOf } from '../../../bridge/src/server/spendAnswer.ts'
import { searchSessions } from '../../../sessions/src/searchSessions.ts'

type FrameOf<T extends ClientFrame['type']> = Extract<ClientFrame, { type: T }>

/** Parts that are used to answer a client that only reads. */
export interface Shelf {
  readonly store: Store
  readonly definitions: ReadonlyMap<string, AgentDefinition>
}

/** Resolves with the state of an agent, as its log has it. Rejects as `loadSession` does. */
export async function snapshotIn({ store, definitions }: Shelf, agentId: string): Promise<object> {
  const session = await loadSession(store, agentId)
  const snapshot = storedSnapshot(session, definitions.get(session.definition))
  // Where it runs is not known here, but whether it does is.
  return session.isStopped ? snapshot : { ...snapshot, state: session.status }
}

/** Returns the messages that the model sees, or all messages ever. Rejects as `loadSession` does. */
export async function conversationIn(
  { store }: Shelf,
  { agentId, view }: FrameOf<'agent.conversation'>,
): Promise<object> {
  const { conversation } = await loadSession(store, agentId)
  const nodes = view === 'trunk' ? conversation.trunk() : conversation.log()
  return { head: conversation.head, nodes, pins: conversation.pins(), masks: conversation.masks() }
}

/** Begins an agent that shares another's past; rejects as `forkSession` does. */
export async function forkIn({ store }: Shelf, { agentId, at }: FrameOf<'agent.fork'>): Promise<object> {
  const { agentId: id } = await forkSession(store, agentId, at)
  return { agentId: id }
}

/** Returns a page of sessions. Reads every log. */
export async function sessionsIn({ store }: Shelf, frame: FrameOf<'session.list'>): Promise<object> {
  if (frame.running !== undefined)
    throw new RuntimeError('ENGINE_UNSUPPORTED', 'session.list: where agents run is known to the engine alone.')
  const found = await listSessions(store, frame.metadata === undefined ? {} : { metadata: frame.metadata })
  const { forkedFrom: source } = frame
  const all = found.filter(({ forkedFrom }) => source === undefined || forkedFrom?.agentId === source)
  const sessions = pageOf(all, frame).map((each) => sessionEntry(each, each.forkedFrom?.agentId))
  return { sessions, total: all.length }
}

/** Returns the first agents with entries that wait for people, at most `limit`, and their total number. */
export async function waitingIn({ store }: Shelf, frame: FrameOf<'waiting.list'>): Promise<object> {
  const { metadata, limit = defaultLimit } = frame
  const found: WaitingAgent[] = []
  const query = { parent: null, ...(metadata === undefined ? {} : { metadata }) }
  for await (const one of new WaitingList(store, () => undefined).find(query))
    found.push(
      waitingAgent(
        one,
        one.waiting.map(({ pending }) => pending),
      ),
    )
  return { waiting: inOrder(found).slice(0, limit), total: found.length }
}

/** Returns the matches of a search. */
export async function searchIn({ store }: Shelf, frame: FrameOf<'session.search'>): Promise<object> {
  const { text, limit = defaultSearchLimit, metadata = {} } = frame
  const hits = await searchSessions(store, { text, limit, metadata })
  const index = new SessionIndex(store)
  const sessions: SessionEntry[] = []
  for (const id of new Set(hits.map(({ agentId }) => agentId))) {
    const session = await index.summary(id, () => true)
    if (session !== undefined) sessions.push(sessionEntry(session, session.forkedFrom?.agentId))
  }
  return { hits, sessions }
}

/** Returns the spending that a frame asks for. */
export async function spendIn(
  { store }: Shelf,
  { metadata, limit, ...frame }: FrameOf<'session.spend'>,
): Promise<object> {
  return inGroups(await spendOf(store, { ...optionsOf(frame), ...(metadata === undefined ? {} : { metadata }) }), limit)
}

/** Returns a page of agents without a parent that have not ended, by id. */
export async function agentsIn(shelf: Shelf, frame: FrameOf<'agent.list'>): Promise<object> {
  const roots: { readonly id: string }[] = []
  for (const id of (await shelf.store.list()).toSorted()) {
    const created = await createdRecord(shelf.store, id)
    if (created?.path.length === 0 && hasMetadata(created.metadata, frame.metadata ?? {})) roots.push({ id })
  }
  const agents: object[] = []
  for (const { id } of pageOf(roots, frame)) agents.push(await snapshotIn(shelf, id))
  return { agents, total: roots.length }
}
