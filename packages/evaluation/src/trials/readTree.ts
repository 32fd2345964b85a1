import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'

/** Returns the id of the agent that a record began. */
function begunBy(record: LogRecord): string | undefined {
  if (record.type === 'child.spawned') return record.incognito === true ? undefined : record.childId
  return record.type === 'tool.start' ? record.childId : undefined
}

/** Returns the logs of an agent and of all agents below it, by id, its own first. An agent without a log is left out. */
export async function readTree(store: Store, rootId: string): Promise<ReadonlyMap<string, readonly LogRecord[]>> {
  const logs = new Map<string, readonly LogRecord[]>()
  const waiting = [rootId]
  for (const agentId of waiting) {
    if (logs.has(agentId)) continue
    const records: LogRecord[] = []
    try {
      for await (const record of store.read(agentId)) {
        records.push(record)
        const child = begunBy(record)
        if (child !== undefined) waiting.push(child)
      }
    } catch (thrown) {
      if (!(thrown instanceof RuntimeError) || thrown.code !== 'AGENT_NOT_FOUND') throw thrown
    }
    if (records.length > 0) logs.set(agentId, records)
  }
  return logs
}

/** Returns the cost of an agent's runs so far, its sub-agents included, from its log; for a run without an end, the cost of its turns. Pure. */
export function costIn(records: readonly LogRecord[]): number {
  let ended = 0
  let open = 0
  for (const record of records) {
    if (record.type === 'run.end') {
      ended += record.costUsd
      open = 0
    } else if (record.type === 'turn.end') open += record.costUsd
  }
  return ended + open
}

/** Returns the text of the last reply. Pure. */
export function lastAnswer(records: readonly LogRecord[]): string {
  const reply = records.findLast((record) => record.type === 'reply.end')
  if (reply?.type !== 'reply.end') return ''
  return reply.message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
}
