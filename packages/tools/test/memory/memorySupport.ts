import { sqliteMemory, type SqliteMemory } from '../../src/memory/sqliteMemory.ts'
import type { Memory } from '../../../../src/protocol/ports/memory.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import type { ModelRequest } from '../../../../src/protocol/ports/model.ts'
import type { ScriptedReply } from '../../../evaluation/src/testing/scriptedModel.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'

/** A memory that goes with the case. */
export function emptyMemory({ cleanup }: Pick<CaseContext, 'cleanup'>): SqliteMemory {
  const memory = sqliteMemory(':memory:')
  cleanup(() => memory.close())
  return memory
}

/** A memory that knows nothing, whatever it is told. */
export const noMemory: Memory = {
  put: async (record) => record,
  search: async () => [],
  list: async () => [],
  delete: async () => 0,
}

/** A reply that calls `remember`. */
export const remembers = (callId: string, input: unknown): ScriptedReply => ({
  toolCalls: [{ callId, name: 'remember', input }],
})

export const recalls = (callId: string, query: string): ScriptedReply => ({
  toolCalls: [{ callId, name: 'recall_memory', input: { query } }],
})

/** Last message of a request on behalf of the user. */
export const lastSaid = (request: ModelRequest | undefined): string =>
  textOf(request?.messages.findLast(({ role }) => role === 'user')?.content ?? [])
