import { defineAgent } from '../../src/actors/defineAgent.ts'
import { policyModel } from '../../src/actors/models/policyModel.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { memoryStore } from '../../src/stores/memoryStore.ts'
import { tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

describe('an agent that died twice in the same call', (it) => {
  it('has as many turns left as after the first time: the call was not asked for anew', async ({ cleanup }) => {
    let running = Promise.withResolvers<void>()
    const hang = (_: unknown, { signal }: { readonly signal: AbortSignal }): Promise<string> => {
      running.resolve()
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped')))
    }
    const look = tool('look', hang, { effects: 'none' })
    const model = policyModel(({ messages }) =>
      messages.length === 1 ? { toolCalls: [{ name: 'look', input: {} }] } : 'done',
    )
    const looker = defineAgent({ name: 'looker', model, tools: [look], limits: { turns: 3 } })

    /** What is in the log when the call runs: as a killed process leaves it. */
    const diesInTheCall = async (before: readonly LogRecord[]): Promise<LogRecord[]> => {
      const store = memoryStore()
      running = Promise.withResolvers()
      const runtime = await createRuntime({ store })
      cleanup(() => runtime.close())
      if (before.length === 0) void (await runtime.spawn(looker, { id: 'a1' })).prompt('go')
      else {
        const lease = await store.open('a1')
        await store.append('a1', before)
        await lease.release()
        await runtime.resume('a1', looker)
      }
      await running.promise
      const records: LogRecord[] = []
      for await (const record of store.read('a1')) records.push(record)
      return records
    }

    const once = await diesInTheCall([])
    const twice = await diesInTheCall(once)
    const thrice = await diesInTheCall(twice)
    const limits = thrice.flatMap((record) => (record.type === 'run.start' ? [record.limits.turns] : []))
    assert.equal(limits, [3, 2, 2])
  })
})
