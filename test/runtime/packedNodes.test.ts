import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { memoryStore } from '../../src/log/stores/memoryStore.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import type { Checkpoint } from '../../src/protocol/ports/checkpoints.ts'
import { KeptNodes } from '../../src/runtime/agents/keptNodes.ts'
import { assert, describe } from '../support/suite.ts'

const headBytes = 4

/** The nodes in a checkpoint. Changing their bytes changes the checkpoint. */
function nodesIn({ body }: Checkpoint): KeptNodes {
  const length = new DataView(body.buffer, body.byteOffset, body.byteLength).getUint32(0, true)
  return new KeptNodes(body.subarray(headBytes + length))
}

describe('an agent that is opened for a prompt', (it) => {
  it('reads nothing of what no request shows, however full its window is', async ({ cleanup }) => {
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    cleanup(() => runtime.close())
    let asked = 0
    const model = policyModel(() => ({ text: `${(asked += 1)} ${'word '.repeat(800)}` }))
    const contextWindow = 20_000
    const definition = defineAgent({ name: 'long', model, compaction: { contextWindow } })
    const agent = await runtime.spawn(definition, { id: 'a' })
    const isPacked = (): boolean =>
      agent.conversation.trunk().length > 60 && agent.conversation.tokens < 0.7 * contextWindow
    while (!isPacked()) await agent.prompt('go').result
    await runtime.detach('a')
    const checkpoint = (await store.checkpoints?.read('a'))!
    const packed = nodesIn(checkpoint).chunks.filter(({ isDeflated }) => isDeflated)
    assert.ok(packed.length > 0)
    const nodes = nodesIn(checkpoint)
    for (const _ of ['once', 'again']) assert.is(nodes.take(1, [])?.id, 1)
    for (const { bytes } of packed) bytes.fill(0xff)
    const opened = await runtime.open('a', definition)
    assert.ok(opened.conversation.tokens > contextWindow / 2, 'so full that its messages might be too long')
    assert.is((await opened.prompt('go').result).stopReason, 'stop')
    assert.throws(() => opened.conversation.trunk(), Error)
  })
})
