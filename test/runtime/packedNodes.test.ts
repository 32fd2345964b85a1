import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import type { Checkpoint } from '../../src/protocol/ports/checkpoints.ts'
import { KeptNodes, sizes } from '../../src/runtime/agents/keptNodes.ts'
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
    // Checkpoints of earlier builds have no checksum.
    const lease = await store.open('a')
    await store.checkpoints!.write('a', { ...checkpoint, digest: checkpoint.digest.split(' ')[0]! })
    await lease.release()
    const opened = await runtime.open('a', definition)
    assert.ok(opened.conversation.tokens > contextWindow / 2, 'so full that its messages might be too long')
    assert.is((await opened.prompt('go').result).stopReason, 'stop')
    assert.throws(() => opened.conversation.trunk(), Error)
  })
})

describe('nodes in chunks', (it) => {
  it('are read where they stand last, in whatever order they are asked for', () => {
    const row = (id: number, text: string): unknown[] => [id, id - 1, 'r', 0, id, 1, id, id, text]
    const chunks = [[1, 2, 3, 4].map((id) => row(id, 'old')), [2, 3, 4].map((id) => row(id, 'new'))]
    const [shared, own] = chunks.map((rows) => Buffer.from(JSON.stringify(rows))) as [Buffer, Buffer]
    const table = Buffer.alloc(sizes.head + 4 * sizes.node + 2 * sizes.chunk)
    table.writeUInt32LE(4, 0)
    table.writeUInt32LE(2, 4)
    for (const id of [1, 2, 3, 4]) table.writeUInt16LE(id === 1 ? 1 : 2, sizes.head + (id - 1) * sizes.node)
    const ends = sizes.head + 4 * sizes.node
    table.writeUInt32LE(table.length + shared.length, ends)
    table.writeUInt32LE(table.length + shared.length + own.length, ends + sizes.chunk)
    const nodes = new KeptNodes(Buffer.concat([table, own]), shared)
    const read = [4, 1, 2, 3].map((id) => {
      const node = nodes.take(id, [])!
      return [node.id, JSON.stringify(node.message).includes('new')]
    })
    assert.equal(read, [
      [4, true],
      [1, false],
      [2, true],
      [3, true],
    ])
    assert.throws(() => new KeptNodes(Buffer.concat([table, own]), shared.subarray(1)), RangeError)
  })
})
