import { runtimeSetup } from '../../packages/runtime/src/runtimeSetup.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { LocalRuntime } from '../../src/runtime/runtime.ts'
import { assert, describe } from '../support/suite.ts'

const definition = defineAgent({ name: 'tester', model: policyModel(() => 'yes') })

/** Agents with long logs: one that was closed by itself, and one that its runtime closed. Returns which have a checkpoint. */
async function keptBy(store?: Store): Promise<string[]> {
  const runtime = new LocalRuntime(runtimeSetup(store === undefined ? {} : { store }))
  const { checkpoints } = runtime.shared.store
  for (const id of ['early', 'late']) {
    const agent = await runtime.spawn(definition, { id })
    while (agent.lastSeq < 100) await agent.prompt('Go on').result
    if (id === 'early') await agent.close()
  }
  await runtime.close()
  const kept = await Promise.all(['early', 'late'].map(async (id) => ((await checkpoints!.read(id)) ? [id] : [])))
  return kept.flat()
}

describe('a runtime that closes', (it) => {
  it('writes no checkpoint into a store that it made itself, which nobody can read any more', async () => {
    assert.equal(await keptBy(), ['early'])
  })

  it('writes them into a store that it was given', async () => {
    assert.equal(await keptBy(memoryStore()), ['early', 'late'])
  })
})
