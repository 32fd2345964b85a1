import { RuntimeError } from '../protocol/errors.ts'
import type { Store } from '../protocol/ports/store.ts'
import { createdRecord } from '../log/readHistory.ts'

/**
 * Returns a store for the logs of an incognito agent and of those below it. They are kept in `logs`, in memory, while any of these agents
 * exists. Reads fall through to `behind`, which has the log that such an agent was forked from. Nothing is ever written or opened there.
 */
export function incognitoStore(behind: Store, logs: Store): Store {
  const has = async (agentId: string): Promise<boolean> => (await logs.stat!(agentId)) !== undefined
  return {
    append: (agentId, records) => logs.append(agentId, records),

    async *read(agentId, fromSeq, limit) {
      yield* ((await has(agentId)) ? logs : behind).read(agentId, fromSeq, limit)
    },

    // One id must not stand for two agents.
    async open(agentId) {
      if (!(await has(agentId)) && (await createdRecord(behind, agentId)) !== undefined)
        throw new RuntimeError('AGENT_EXISTS', `Agent "${agentId}" has a log in the store.`)
      return await logs.open(agentId)
    },

    // Beside the log, and gone with it.
    snapshots: {
      maxFileBytes: logs.snapshots!.maxFileBytes,
      put: (agentId, bytes) => logs.snapshots!.put(agentId, bytes),
      get: async (agentId, id) => (await logs.snapshots!.get(agentId, id)) ?? behind.snapshots?.get(agentId, id),
    },

    list: () => logs.list(),
    close: () => logs.close(),
  }
}
