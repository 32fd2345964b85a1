import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { tool } from '../support/agentHarness.ts'
import { ends, Lives } from '../support/lives.ts'
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

    /** Log when the call runs: as a killed process leaves it. */
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

describe('an agent that died before it heard of its sub-agent’s end', (it) => {
  it('answers the call from the log of the sub-agent, which is not asked again', async (context) => {
    const lives = new Lives(context)
    let asked = 0
    const helps = policyModel(() => `helped ${(asked += 1)}`)
    const child = defineAgent({ name: 'child', model: helps, description: 'Helps.' })
    const root = defineAgent({
      name: 'root',
      model: policyModel(({ messages }) =>
        messages.some(({ role }) => role === 'toolResult')
          ? 'done'
          : { toolCalls: [{ name: 'child', input: { task: 'help' } }] },
      ),
      agents: [child],
    })
    const first = await lives.begin(root, 'go')
    await ends(first.agent)
    const { a1 = [], 'a1.1': ended = [] } = await first.logs()
    const cut = a1.findIndex(({ type }) => type === 'tool.end' || type === 'child.ended')
    assert.is(asked, 1)
    const next = await lives.resume(root, { a1: a1.slice(0, cut), 'a1.1': ended })
    await ends(next.agent)
    const logs = await next.logs()
    assert.equal([asked, logs['a1.1']?.length], [1, ended.length])
    const end = logs['a1']?.find((record) => record.type === 'tool.end')
    assert.match(JSON.stringify(end), /helped 1/)
  })
})
