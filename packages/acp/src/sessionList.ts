import type { ListSessionsRequest, ListSessionsResponse } from '@agentclientprotocol/sdk'
import { cutEnd } from '../../../src/protocol/text/cutMiddle.ts'
import type { RecordOf } from '../../../src/protocol/records.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { isAsked } from '../../../src/protocol/asked.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import { folderOf } from './sessionRequest.ts'
import type { SessionSummary } from '../../sessions/src/listSessions.ts'
import { withoutEnd } from '../../../src/protocol/text/textEnds.ts'

const pageSize = 50
const maxTitle = 80

/**
 * Returns a page of the sessions that can be continued, running or not, the most recently written first. With `cwd`,
 * only sessions that were begun in that folder, or that have no folder because they were not begun by ACP. Rejects with
 * `STORE_READ_FAILED`, `INVALID_OPTION` for an invalid cursor.
 */
export async function listPage(
  access: AgentAccess,
  { cursor, cwd }: ListSessionsRequest,
): Promise<ListSessionsResponse> {
  const after = cursor ?? undefined
  if (after !== undefined && (await access.sessionIds({ isRoot: true }, { after, limit: 0 })) === undefined)
    throw new RuntimeError('INVALID_OPTION', `There is no page at the cursor "${cursor}".`)
  const running = new Set(access.agents().map(({ id }) => id))
  const page: ListSessionsResponse['sessions'] = []
  for await (const id of access.allSessionIds({ isRoot: true }, after)) {
    const session = await access.session(id)
    if (session === undefined || !mayGoOn(session, access, running)) continue
    const folder = folderOf(session.metadata)
    if (cwd != null && folder !== undefined && bare(folder) !== bare(cwd)) continue
    if (page.length === pageSize) return { sessions: page, nextCursor: page.at(-1)!.sessionId }
    const { definition, updatedAt } = session
    page.push({
      sessionId: id,
      cwd: folder ?? cwd ?? '/',
      title: titleOf(await firstWords(access, id)) || definition,
      updatedAt: new Date(updatedAt).toISOString(),
      _meta: { escapement: { definition } },
    })
  }
  return { sessions: page }
}

const mayGoOn = (
  { id, definition, path, isStopped, error }: SessionSummary,
  { definitions }: AgentAccess,
  running: ReadonlySet<string>,
): boolean =>
  path.length === 0 && !isStopped && (running.has(id) || (error === undefined && definitions.includes(definition)))

/** Returns the first words that no guard refused. They are known once there is a reply. */
async function firstWords(access: AgentAccess, agentId: string): Promise<string> {
  let first: RecordOf<'message.added'> | undefined
  for await (const record of access.records(agentId)) {
    if (record.type === 'message.added' && isAsked(record.message.provenance)) first ??= record
    else if (record.type === 'guard.decided' && record.withheld?.includes(first?.nodeId ?? 0) === true)
      first = undefined
    else if (record.type === 'reply.end' && first !== undefined) break
  }
  return first === undefined ? '' : textOf(first.message.content)
}

/** Returns a folder without separators at its end, in the notation of either kind of system. */
const bare = (folder: string): string => folder.slice(0, 1) + withoutEnd(folder.slice(1), '\\/')

const titleOf = (text: string): string => cutEnd(text.replace(/\s+/g, ' ').trim(), maxTitle)
