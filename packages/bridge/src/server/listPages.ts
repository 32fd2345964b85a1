import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { ClientFrame, SessionEntry } from '../../../wire/src/frames.ts'
import type { SessionSummary } from '../../../sessions/src/listSessions.ts'
import { outwardError, withOutwardError } from './outwardError.ts'

/** A command that asks for a page of a list. */
export type ListFrame = Extract<ClientFrame, { type: 'agent.list' | 'session.list' }>

/** Default number of entries of a page. */
export const defaultLimit = 100

/** Returns the error for a page that should start after an entry that is not in the list. */
export const noneOfThem = ({ type, after }: ListFrame): RuntimeError =>
  new RuntimeError('INVALID_OPTION', `${type}: after: "${after}" is none of them.`)

/** Returns the entries of a page, after `after`. @throws RuntimeError `INVALID_OPTION` if no entry has that id */
export function pageOf<T extends { readonly id: string }>(all: readonly T[], frame: ListFrame): readonly T[] {
  const { after, limit = defaultLimit } = frame
  const at = after === undefined ? -1 : all.findIndex(({ id }) => id === after)
  if (at === -1 && after !== undefined) throw noneOfThem(frame)
  return all.slice(at + 1, at + 1 + limit)
}

/** Returns a session in the form for lists. `source`: the agent that it was forked from, if the client may know about it. */
export const sessionEntry = (session: SessionSummary, source: string | undefined): SessionEntry => ({
  agentId: session.id,
  definition: session.definition,
  path: session.path,
  status: session.status,
  isStopped: session.isStopped,
  createdAt: session.createdAt,
  updatedAt: session.updatedAt,
  runs: session.runs,
  turns: session.turns,
  usage: session.usage,
  costUsd: session.costUsd,
  ...(session.kind === undefined ? {} : { kind: session.kind }),
  ...(session.title === undefined ? {} : { title: session.title }),
  ...(session.last === undefined ? {} : { last: withOutwardError(session.last) }),
  ...(source === undefined ? {} : { forkedFrom: source }),
  ...(session.metadata === undefined ? {} : { metadata: session.metadata }),
  ...(session.error === undefined ? {} : { error: outwardError(session.error) }),
})
