import { createRuntime, defineAgent, memoryStore, type LogRecord, type Model } from '../../src/index.ts'
import { cutStore, recordsOf, settled } from '../journeys/cutLogs.ts'
import { tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const look = tool('look', ({ at }) => `seen${Number(at)}\n${'word '.repeat(100 + ((Number(at) * 7919) % 400))}`, {
  effects: 'none',
})

/** A worker that looks 24 times. What its provider measures is not what the agent estimates, and not by the same factor each time. */
function worker() {
  const model: Model = {
    id: 'test:model',
    async *stream({ messages }) {
      const last = messages.findLast(({ role }) => role === 'toolResult')?.content[0]
      const at = 1 + Number(last?.type === 'text' ? /^seen(\d+)/.exec(last.text)?.[1] : 0)
      const input = Math.round(JSON.stringify(messages).length / (3 + (at % 3)))
      const usage = { input, output: 20, cacheRead: 0, cacheWrite: 0 }
      const call = { type: 'toolCall', callId: `c${at}`, name: 'look', input: { at } } as const
      yield at > 24
        ? { type: 'done', reply: { content: [{ type: 'text', text: 'done' }], stopReason: 'stop', usage } }
        : { type: 'done', reply: { content: [call], stopReason: 'toolUse', usage } }
    },
  }
  const fold = { work: 300, minBatch: 300, keepSteps: 2, indexTokens: 100, cap: 20_000, leastRequests: 0 }
  return defineAgent({ name: 'worker', model, tools: [look], compaction: false, braking: { fold } })
}

const foldsIn = (records: readonly LogRecord[]) =>
  records.flatMap((record) => (record.type === 'prune.applied' ? [record.steps] : []))

describe('the turn in which an agent folds', (it) => {
  it('is the same for one that was loaded from its log in between, whatever its provider measures', async () => {
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    const agent = await runtime.spawn(worker(), { id: 'w' })
    await agent.prompt('the task').result
    const records = await recordsOf(store, 'w')
    await runtime.close()
    const folds = foldsIn(records)
    assert.ok(folds.length > 0)
    for (const [at, { type }] of records.entries()) {
      if (type !== 'tool.end') continue
      const left = await cutStore('w', records.slice(0, at + 1))
      const again = await createRuntime({ store: left })
      const resumed = await again.resume('w', worker(), { continue: false })
      const ended = settled(resumed)
      resumed.resume()
      await ended
      assert.equal(foldsIn(await recordsOf(left, 'w')), folds, `cut after record ${at + 1}`)
      await again.close()
    }
  })
})
