import type { IncomingMessage, ServerResponse } from 'node:http'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { eventOf, type AgentEvent } from '../../../../src/protocol/events.ts'
import type { AgentAccess } from './agentAccess.ts'
import { idOf } from './agentCharts.ts'
import type { Bridge } from './bridge.ts'
import { answerCompressed } from './compressedAnswer.ts'
import { loggedEvent } from './feed.ts'

const place = /^\/agents\/([^/]+)\/newest\.json$/

/** Maximum number of records, which are about 200 nodes, and of their characters. A single record is returned whatever its length. */
const most = { records: 600, chars: 1024 * 1024 }

/** Returns true for the path of an agent's newest records: `/agents/<id>/newest.json`. */
export const isNewestPath = (path: string): boolean => place.test(path)

/**
 * Answers with the newest records of an agent's log, oldest first, as the client may see them and without the messages of captured
 * requests. The page shows them until it has the whole log. Status 204 if there is nothing to show. The log itself has the reason.
 */
export async function answerNewest(
  request: IncomingMessage,
  response: ServerResponse,
  { bridge, access }: { readonly bridge: Bridge; readonly access: AgentAccess },
  path: string,
): Promise<void> {
  const records = await newestRecords(bridge, access, place.exec(path)![1]!).catch((thrown: unknown) => {
    if (thrown instanceof RuntimeError) return []
    throw thrown
  })
  if (records.length > 0)
    return answerCompressed(request, response, JSON.stringify(records), { 'content-type': 'application/json' })
  response.writeHead(204, { 'cache-control': 'no-store' })
  response.end()
}

/** Returns the newest records. `encoded` is the agent's id as in a path. Rejects with `INVALID_ID`, `BRIDGE_FORBIDDEN`, and as the store does. */
async function newestRecords(bridge: Bridge, access: AgentAccess, encoded: string): Promise<readonly AgentEvent[]> {
  const agentId = idOf(encoded)
  const [view, path] = [await access.viewOf(agentId), await pathOf(access, agentId)]
  const kept: { readonly event: AgentEvent; readonly chars: number }[] = []
  let sum = 0
  for await (const record of bridge.logOf(agentId, access.find).read(agentId, -most.records)) {
    const event = loggedEvent(eventOf(record, { agentId, path }), view, false)
    const chars = JSON.stringify(event).length
    kept.push({ event, chars })
    sum += chars
    while (kept.length > 1 && (kept.length > most.records || sum > most.chars)) sum -= kept.shift()!.chars
  }
  return kept.map(({ event }) => event)
}

/** Returns the ids of the ancestors of an agent within reach. Rejects with `BRIDGE_FORBIDDEN`, and as the store does. */
async function pathOf(access: AgentAccess, agentId: string): Promise<readonly string[]> {
  for await (const record of access.records(agentId)) return record.type === 'agent.created' ? record.path : []
  return []
}
