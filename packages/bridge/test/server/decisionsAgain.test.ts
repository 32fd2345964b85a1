import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { type LogRecord, recordVersion as v } from '../../../../src/protocol/records.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { Decisions } from '../../src/server/decisions.ts'

const created = { v, seq: 1, type: 'agent.created', definition: 'b', path: ['a'], time: 0, machine: 'agent@1' }
const decided = { v, seq: 2, type: 'approval.decided', runId: 'r', turnIndex: 0, callId: 'c', requestId: 'ours' }

describe('a decision about an agent that has ended', (it) => {
  for (const fails of [1, 2, 3])
    it(`is found once its log can be read again: at read ${fails} it could not`, async () => {
      let reads = 0
      const store = {
        async *read() {
          reads += 1
          if (reads === fails) throw new RuntimeError('STORE_READ_FAILED', 'busy')
          yield* [created, decided] as unknown as LogRecord[]
        },
      } as unknown as Store
      const decisions = new Decisions(store, () => undefined)
      const ancestor = { id: 'a', pending: () => [] } as unknown as Agent
      const ask = (): Promise<unknown> =>
        decisions
          .wasDecided(ancestor, 'a.1/t0/tool/c', 'ours')
          .catch((thrown: unknown) => (thrown as RuntimeError).code)
      const answers = [await ask(), await ask(), await ask()]
      assert.equal(answers.at(-1), true)
      assert.equal(answers.filter((answer) => answer === 'STORE_READ_FAILED').length, 1)
    })
})
