import { someRuns } from '../../../../test/support/seeds.ts'
import { assert as checkAll, constantFrom, json, oneof, property, string } from 'fast-check'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { readFrame } from '../../src/server/readFrame.ts'
import { never, stalled } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { Heard, logOf, serveAgents, type Bare, type Serving } from './bridgeHarness.ts'
import { seeded } from './cutter.ts'
import { wrongFrame } from './wrongFrame.ts'

const busy = () => defineAgent({ name: 'busy', model: scriptedModel([stalled(['so far'], never)]) })

async function startVictim(serving: Serving): Promise<() => Promise<string>> {
  const agent = await serving.runtime.spawn(busy(), { id: 'a1' })
  const heard = new Heard()
  agent.subscribe(heard.listen)
  agent.prompt('go')
  await heard.until(({ type }) => type === 'reply.delta')
  return async () => JSON.stringify([agent.state, await logOf(serving.store, 'a1'), serving.runtime.agents().length])
}

const send = (bare: Bare, count: number, random: () => number): void => {
  for (let n = 0; n < count; n += 1) bare.send(wrongFrame(random))
}

describe('malformed frames', (it) => {
  it('are answered with errors, thousands of them, and touch no agent', { timeoutMs: 30_000 }, async (context) => {
    const serving = await serveAgents(context, [busy()], {
      limits: { framesPerSecond: 1_000_000, waitingCommands: 1_000_000, drainMs: 50 },
    })
    const state = await startVictim(serving)
    const before = await state()
    const random = seeded(7)
    const bare = await serving.dial({ hello: {} })
    await bare.until(({ type }) => type === 'welcome')
    for (let round = 0; round < 50; round += 1) {
      send(bare, 100, random)
      const { type } = await bare.ask({ type: 'agent.list' })
      assert.is(type, 'ok')
      assert.is(await state(), before)
    }
    const errors = bare.frames.filter(({ type }) => type === 'error')
    assert.is(errors.length, 5_000)
    assert.ok(errors.every((frame) => frame.type === 'error' && frame.code === 'BRIDGE_FRAME'))
    assert.ok(errors.every((frame) => frame.type === 'error' && frame.message.length < 1_000))
    assert.is(({} as { polluted?: unknown }).polluted, undefined)
    await serving.runtime.agent('a1')!.stop()
  })

  it('before a hello end the connection', async (context) => {
    const serving = await serveAgents(context, [busy()])
    for (const frame of ['nonsense', '{}', '[]', JSON.stringify({ type: 'xstate.stop' })]) {
      const bare = await serving.dial()
      bare.send(frame)
      await bare.until(({ type }) => type === 'error')
      bare.send({ type: 'agent.list', id: '1' })
      assert.is((await bare.closed).code, 4001)
    }
  })

  it('of bytes and in fragments are answered as well', async (context) => {
    const serving = await serveAgents(context, [busy()])
    const bare = await serving.dial({ hello: {} })
    await bare.until(({ type }) => type === 'welcome')
    bare.send(new Uint8Array([1, 2, 3]))
    await bare.until((frame) => frame.type === 'error' && frame.message.includes('binary'))
    for (const part of ['{"type":"pi', 'ng","id":', '"p"']) bare.socket.send(part, { fin: false })
    bare.socket.send('}', { fin: true })
    await bare.until((frame) => frame.type === 'pong' && frame.id === 'p')
    // Text that is not UTF-8 is a fault of the protocol below.
    bare.socket.send(Buffer.from([0xff, 0xfe, 0x22]), { binary: false })
    assert.is((await bare.closed).code, 1007)
  })

  it('that hide a bomb end the connection before it is unpacked', async (context) => {
    const serving = await serveAgents(context, [busy()], { limits: { frameBytes: 10_000, drainMs: 50 } })
    const bare = await serving.dial({ hello: {} })
    assert.is(bare.socket.extensions, 'permessage-deflate')
    for (let n = 0; n < 20; n += 1) bare.socket.send('x'.repeat(1_000), { fin: false })
    assert.is((await bare.closed).code, 1009)
  })

  it('are read without a throw, whatever they are', () => {
    const characters = '{}[]",:\\1ea'.split('')
    const anything = oneof(string(), json({ maxDepth: 8 }), string({ unit: constantFrom(...characters) }))
    const isRead = property(anything, (text) => {
      const read = readFrame(text, 64)
      assert.ok('problem' in read || typeof read.type === 'string')
    })
    checkAll(isRead, { seed: 42, numRuns: someRuns(5_000) })
  })

  it('are measured in depth without reading what is in strings', () => {
    const frame = (content: string): string => JSON.stringify({ type: 'agent.prompt', id: '1', agentId: 'a1', content })
    assert.not.ok('problem' in readFrame(frame('[{"'.repeat(1_000)), 64))
    assert.not.ok('problem' in readFrame(frame('\\"[['.repeat(1_000)), 64))
    const deep = readFrame('['.repeat(65), 64)
    assert.ok('problem' in deep && deep.problem.includes('deeper than 64'))
  })
})

describe('two clients at once', (it) => {
  it('are served in turn, and neither is lost', async (context) => {
    const echo = defineAgent({
      name: 'echo',
      maxQueue: 3,
      model: policyModel(({ messages }) => JSON.stringify(messages.at(-1)?.content)),
    })
    const serving = await serveAgents(context, [echo])
    const [one, two] = [serving.connect(), serving.connect()]
    const first = await one.spawn('echo', { id: 'a1' })
    const second = two.agent('a1')
    const runs = [first.prompt('from one'), second.prompt('from two')]
    const results = await Promise.all(runs.map(({ result }) => result))
    assert.match(results[0]!.text, 'from one')
    assert.match(results[1]!.text, 'from two')
    assert.is.not(runs[0]!.requestId, runs[1]!.requestId)
    // A run that is over is not aborted any more.
    await second.abort()
    assert.is((await first.prompt('more').result).stopReason, 'stop')
  })
})
