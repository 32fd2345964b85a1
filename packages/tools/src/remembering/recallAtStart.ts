import type { ConversationNode } from '../../../../src/conversation/tree/node.ts'
import type { MemoryRecord } from '../../../../src/protocol/ports/memory.ts'
import { isTrusted } from '../memory/memoryRules.ts'
import { isAsked } from '../../../../src/protocol/asked.ts'
import { isRemembered } from '../../../../src/protocol/remembered.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import type { ContextMessage } from '../../../../src/protocol/runs/queue.ts'
import type { AgentPorts } from '../../../../src/actors/agentPorts.ts'
import type { MemorySettings } from '../../../../src/actors/parts/memory/memoryOptions.ts'
import { scopesOf, tierOf } from './scopes.ts'

const mostQueried = 4_000
/** Maximum number of episodes in a recall, so that facts have room. */
const mostEpisodes = 3

/** Result of a recall. `failed`: reason why the memory could not be searched or listed. */
export interface Recalled {
  readonly messages: readonly ContextMessage[]
  readonly failed?: unknown
}

const nothing: Recalled = { messages: [] }

/**
 * Returns memories relevant to people's newest messages, as messages to follow them: records found by
 * their words, then the most recently changed, within the budget. Leaves out records that are already in
 * the conversation, and untrusted ones. Rejects if the memory can neither be searched nor listed.
 */
export async function recallAtStart(ports: AgentPorts, settings: MemorySettings): Promise<Recalled> {
  const { recall, store } = settings
  const trunk = ports.conversation.trunk()
  const said = saidLast(trunk)
  if (recall === null || said === undefined) return nothing
  const scopes = [...scopesOf(ports, settings).known.values()]
  if (scopes.length === 0) return nothing
  const shown = shownIn(trunk)
  const filter = { scopes, trusted: true, limit: recall.records + shown.size }
  const [found, listed] = await Promise.allSettled([store.search(said, filter), store.list(filter)])
  const failed = [found, listed].find((each) => each.status === 'rejected')
  if (found.status === 'rejected' && listed.status === 'rejected') throw found.reason
  const messages: ContextMessage[] = []
  let tokens = 0
  let episodes = 0
  for (const record of [found, listed].flatMap((each) => (each.status === 'fulfilled' ? each.value : []))) {
    // The memory may be one of the application's that does not keep to its contract.
    if (shown.has(keyOf(record)) || !isTrusted(record) || !scopes.includes(record.scope)) continue
    shown.add(keyOf(record))
    if (record.kind === 'episode') {
      // The conversation has its own.
      if (record.source.agentId === ports.agentId || episodes === mostEpisodes) continue
      episodes += 1
    }
    const message = messageOf(record)
    const size = ports.definition.counter.text(textOf(message.content))
    if (tokens + size > recall.tokens) continue
    tokens += size
    messages.push(message)
    if (messages.length === recall.records) break
  }
  return failed === undefined ? { messages } : { messages, failed: failed.reason as unknown }
}

/** Returns the messages of people since the last reply; `undefined` if there are none, or if memories about them are already there. */
function saidLast(trunk: readonly ConversationNode[]): string | undefined {
  const last = trunk.slice(trunk.findLastIndex(({ message }) => message.role !== 'user') + 1)
  if (last.some(({ message }) => recordIn(message) !== undefined)) return undefined
  const said = last
    .flatMap(({ message }) => (message.role === 'user' && isAsked(message.provenance) ? [textOf(message.content)] : []))
    .join('\n')
  return said.trim() === '' ? undefined : said.slice(-mostQueried)
}

/** Returns the id of the record that a message was made from. */
function recordIn(message: ConversationNode['message']): string | undefined {
  const provenance = message.role === 'user' ? message.provenance : undefined
  return isRemembered(provenance) ? `${provenance.tier}/${provenance.recordId}` : undefined
}

const keyOf = ({ scope, id }: MemoryRecord): string => `${tierOf(scope)}/${id}`

const shownIn = (nodes: readonly ConversationNode[]): Set<string> =>
  new Set(nodes.flatMap(({ message }) => recordIn(message) ?? []))

const dayOf = (at: number): string => new Date(Math.min(at, 8.64e15)).toISOString().slice(0, 10)

const messageOf = ({ id, scope, kind, text, createdAt }: MemoryRecord): ContextMessage => ({
  content: [
    {
      type: 'text',
      text: `(From memory, ${tierOf(scope)}, ${id}: ${kind === 'episode' ? `of ${dayOf(createdAt)}` : 'what was true then'}.) ${text}`,
    },
  ],
  provenance: { type: 'memoryTier', tier: tierOf(scope), recordId: id },
})
