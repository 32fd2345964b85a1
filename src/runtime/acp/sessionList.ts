import type { ListSessionsRequest, ListSessionsResponse } from '@agentclientprotocol/sdk'
import { RuntimeError } from '../../protocol/errors.ts'
import { textOf } from '../../protocol/messages.ts'
import type { Store } from '../../protocol/store.ts'
import type { Visit } from '../bridge/visit.ts'
import { listSessions } from '../sessions/listSessions.ts'

/** A session in a list. */
export interface ListedSession {
  readonly sessionId: string
  readonly definition: string
  /** The beginning of what was said first. */
  readonly said?: string
  /** Epoch milliseconds. */
  readonly updatedAt?: number
}

const pageSize = 50
const maxTitle = 80

/** Agents that run, the newest first. */
export const runningSessions = (visit: Visit): ListedSession[] =>
  visit
    .agents()
    .map(({ id, definition, conversation }) => ({ sessionId: id, definition, ...saidFirst(conversation.log()) }))
    .toReversed()

/** Those of a store that can be gone on with, the one written last first. Rejects with `STORE_READ_FAILED`. */
export async function storedSessions(store: Store, definitions: readonly string[]): Promise<ListedSession[]> {
  const listed: ListedSession[] = []
  for (const { id, definition, path, isStopped, error, updatedAt } of await listSessions(store)) {
    if (path.length > 0 || isStopped || error !== undefined || !definitions.includes(definition)) continue
    const said = await firstWords(store, id)
    listed.push({ sessionId: id, definition, updatedAt, ...(said === undefined ? {} : { said }) })
  }
  return listed
}

async function firstWords(store: Store, agentId: string): Promise<string | undefined> {
  for await (const record of store.read(agentId)) {
    if (record.type === 'message.added') return textOf(record.message.content)
  }
  return undefined
}

function saidFirst(nodes: readonly { readonly message: { readonly role: string; readonly content: unknown } }[]) {
  const first = nodes.find(({ message }) => message.role === 'user')
  return first === undefined ? {} : { said: textOf(first.message.content as Parameters<typeof textOf>[0]) }
}

/**
 * One page of a list. Agents are bound to no folder, so they are in the list of whichever is asked for.
 *
 * @throws RuntimeError `INVALID_OPTION` for a cursor that is none
 */
export function pageOf(sessions: readonly ListedSession[], { cursor, cwd }: ListSessionsRequest): ListSessionsResponse {
  const at = cursor == null ? 0 : sessions.findIndex(({ sessionId }) => sessionId === cursor)
  if (at === -1) throw new RuntimeError('INVALID_OPTION', `There is no page at the cursor "${cursor}".`)
  const next = sessions[at + pageSize]?.sessionId
  return {
    sessions: sessions.slice(at, at + pageSize).map(({ sessionId, definition, said = '', updatedAt }) => ({
      sessionId,
      cwd: cwd ?? '/',
      title: titleOf(said) || definition,
      ...(updatedAt === undefined ? {} : { updatedAt: new Date(updatedAt).toISOString() }),
      _meta: { escapement: { definition } },
    })),
    ...(next === undefined ? {} : { nextCursor: next }),
  }
}

function titleOf(said: string): string {
  const line = said.replace(/\s+/g, ' ').trim()
  return line.length > maxTitle ? `${line.slice(0, maxTitle - 1).toWellFormed()}…` : line
}
