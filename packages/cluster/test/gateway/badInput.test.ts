import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { ForwardedTokens } from '../../../bridge/src/server/forwarded.ts'
import { keyedText } from '../../../bridge/src/server/keyed.ts'
import { serveGateway } from '../../src/serveGateway.ts'
import { fileStore } from '../../../stores/src/fileStore.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { dial } from '../../../bridge/test/server/bridgeHarness.ts'
import { fakeWorker, welcome } from './fakeWorker.ts'
import { hasty, secret, startFleet } from './fleet.ts'

const patient = { timeoutMs: 20_000 }
const echo = defineAgent({ name: 'echo', model: policyModel(({ messages }) => `${messages.length} so far`) })
const prompt = (agentId: string) => ({ type: 'agent.prompt', agentId, content: 'hello' })

describe('a gateway', (it) => {
  it('answers what is no frame with why, and goes on', patient, async (context) => {
    const fleet = await startFleet(context, [echo], 1)
    const gateway = await fleet.startGateway()
    const bare = await fleet.dial(gateway)
    await bare.until(({ type }) => type === 'welcome')
    const nonsense = [
      '',
      'nonsense',
      '[]',
      '{"type":"agent.nothing","id":"n1"}',
      `${'['.repeat(100)}${']'.repeat(100)}`,
    ]
    for (const text of [...nonsense, new Uint8Array([1, 2, 3])]) bare.send(text)
    await bare.until(() => bare.frames.filter(({ type }) => type === 'error').length === nonsense.length + 1)
    for (const frame of bare.frames) if (frame.type === 'error') assert.is(frame.code, 'BRIDGE_FRAME')
    const unknown = await bare.ask(prompt('nobody'))
    assert.is(unknown.type === 'error' && unknown.code, 'AGENT_NOT_FOUND')
    assert.is((await bare.ask({ type: 'agent.spawn', definition: 'echo', agentId: 'a1' })).type, 'ok')
    const refused = await bare.ask({ type: 'agent.spawn', definition: 'unheard-of' })
    assert.is(refused.type === 'error' && refused.code, 'INVALID_OPTION')
    const ahead = await bare.ask({ type: 'agent.subscribe', agentId: 'a1', fromSeq: 1_000 })
    assert.is(ahead.type === 'error' && ahead.code, 'INVALID_OPTION')
  })

  it('closes a client whose frame is too large, or that floods it, and no other', patient, async (context) => {
    const fleet = await startFleet(context, [echo], 1)
    const gateway = await fleet.startGateway({ limits: { frameBytes: 10_000, framesPerSecond: 50, drainMs: 50 } })
    const good = await fleet.dial(gateway)
    await good.ask({ type: 'agent.spawn', definition: 'echo', agentId: 'a1' })
    const large = await fleet.dial(gateway)
    large.send({ ...prompt('a1'), content: 'x'.repeat(20_000), id: 'p1' })
    assert.is((await large.closed).code, 1009)
    const flood = await fleet.dial(gateway)
    for (let count = 0; count < 200; count += 1) flood.send({ type: 'ping' })
    assert.is((await flood.closed).code, 4002)
    assert.is((await good.ask(prompt('a1'))).type, 'ok')
  })

  const directories: { readonly [what: string]: () => never | Promise<never> } = {
    throws: () => {
      throw new Error('connect ECONNREFUSED 10.0.0.7:5432')
    },
    'never answers': () => new Promise<never>(() => {}),
  }
  for (const [what, directory] of Object.entries(directories))
    it(`whose directory ${what} says that the agent cannot be reached, and not why`, patient, async (context) => {
      const lines: string[] = []
      const none = (): void => {}
      const logger = { debug: none, info: none, error: none, warn: (_: object, line: string) => void lines.push(line) }
      const gateway = await serveGateway({ directory, secret, workers: () => [], clock: hasty(50), logger })
      context.cleanup(() => gateway.close())
      const bare = await dial(gateway.url)
      context.cleanup(() => bare.socket.terminate())
      bare.send({ type: 'hello' })
      const answer = await bare.ask(prompt('a1'))
      assert.is(answer.type === 'error' && answer.code, 'AGENT_UNREACHABLE')
      assert.not.match(JSON.stringify(answer), '10.0.0.7')
      assert.match(lines[0]!, what === 'throws' ? '10.0.0.7:5432' : 'it took more than')
      assert.match(lines.at(-1)!, 'Agent "a1" cannot be reached: the directory does not say where it is.')
    })

  it('gives up workers that answer garbage, without asking them for ever', patient, async (context) => {
    const garbage: ((text: string) => readonly unknown[])[] = [
      () => ['garbage'],
      () => [new Uint8Array([1, 2])],
      () => [{ type: 5 }],
      () => [[welcome, { type: 'event', agentId: 'a1', seq: 'one' }]],
      () => [
        welcome,
        {
          type: 'error',
          id: 'x1',
          code: 'AGENT_ELSEWHERE',
          message: 'ws://inner:1/bridge',
          elsewhere: { url: 'ws://inner:1' },
        },
      ],
    ]
    for (const answer of garbage) {
      const worker = await fakeWorker(context, answer)
      const options = { directory: () => ({ url: worker.url }), workers: () => [worker.url], clock: hasty(20) }
      const gateway = await serveGateway({ ...options, secret })
      context.cleanup(() => gateway.close())
      const bare = await dial(gateway.url)
      context.cleanup(() => bare.socket.terminate())
      bare.send({ type: 'hello' })
      const refused = await bare.ask(prompt('a1'))
      assert.is(refused.type, 'error')
      assert.ok(worker.seen.connections < 60, `${worker.seen.connections} connections`)
      assert.not.match(JSON.stringify(bare.frames), /"elsewhere"/)
    }
  })

  it('gives up a worker that lets it in and then hangs, which still has the agent', patient, async (context) => {
    const worker = await fakeWorker(context, (text) => (text.includes('"hello"') ? [welcome] : []), { autoPong: false })
    const options = { directory: () => ({ url: worker.url }), workers: () => [worker.url], clock: hasty(20) }
    const gateway = await serveGateway({ ...options, secret })
    context.cleanup(() => gateway.close())
    const bare = await dial(gateway.url)
    context.cleanup(() => bare.socket.terminate())
    bare.send({ type: 'hello' })
    const answer = await bare.ask(prompt('a1'))
    assert.is(answer.type === 'error' && answer.code, 'AGENT_UNREACHABLE')
  })

  it('asks again for records that a worker left out, and gives none twice', patient, async (context) => {
    const record = (seq: number) => ({ type: 'event', agentId: 'a1', seq, event: { type: 'turn.start', seq } })
    let subscriptions = 0
    const worker = await fakeWorker(context, (text) => {
      const { type, id, fromSeq } = JSON.parse(text) as { type: string; id: string; fromSeq: number }
      if (type === 'hello') return [welcome]
      if (type !== 'agent.subscribe') return [{ type: 'ok', id, result: null }]
      subscriptions += 1
      const seqs = subscriptions === 1 ? [1, 2, 2, 1, 4] : [fromSeq, fromSeq + 1]
      return [{ type: 'ok', id, result: { seq: 4 } }, ...seqs.map(record)]
    })
    const options = { directory: () => ({ url: worker.url }), workers: () => [worker.url] }
    const gateway = await serveGateway({ ...options, secret })
    context.cleanup(() => gateway.close())
    const bare = await dial(gateway.url)
    context.cleanup(() => bare.socket.terminate())
    bare.send({ type: 'hello' })
    await bare.ask({ type: 'agent.subscribe', agentId: 'a1' })
    await bare.until((frame) => frame.type === 'event' && frame.seq === 4)
    assert.equal(
      bare.frames.flatMap((frame) => (frame.type === 'event' ? [frame.seq] : [])),
      [1, 2, 3, 4],
    )
  })

  it('is refused options that cannot work', async () => {
    const store = memoryStore()
    const blind: Store = { ...store, holder: undefined } as never
    const good = { directory: store, secret }
    for (const [options, words] of [
      [{ ...good, secret: 'short' }, 'secret'],
      [{ secret }, 'directory'],
      [{ directory: () => undefined, secret }, 'workers or place'],
      [{ directory: blind, secret }, 'does not know who has an agent'],
      [{ directory: fileStore('nowhere'), secret }, 'which workers there are'],
      [{ ...good, endpoints: ['acp'] }, 'endpoints'],
      [{ ...good, definitions: [echo] }, 'for workers'],
      [{ ...good, nonsense: 1 }, 'nonsense'],
      [{ ...good, host: '0.0.0.0' }, 'tokens'],
    ] as const)
      await assert.rejects(serveGateway(options as never), withCode('INVALID_OPTION', words))
  })
})

describe('a worker', (it) => {
  it('takes nobody’s word for who a client is but that of a gateway with its secret', patient, async (context) => {
    const fleet = await startFleet(context, [echo], 0)
    const worker = await fleet.startWorker({ tokens: { 'the-token-of-somebody': 'observe' } })
    const open = await fleet.startWorker({ gatewaySecret: undefined } as never)
    const claims = { grant: { role: 'admin' }, owner: undefined, session: { id: 's', isProven: true } } as const
    const good = new ForwardedTokens(secret).mint(claims, worker.server.url)
    const [prefix = '', body = '', hash = ''] = good.split('.')
    const forged = Buffer.from(JSON.stringify({ r: 'admin', s: 'another' })).toString('base64url')
    const roleOf = async (url: string, token: string): Promise<string> => {
      const bare = await dial(url)
      context.cleanup(() => bare.socket.terminate())
      bare.send({ type: 'hello', token })
      const first = await bare.until(({ type }) => type === 'welcome' || type === 'error')
      return first.type === 'welcome' ? first.may!.join(' ') : (first as { code: string }).code
    }
    assert.match(await roleOf(worker.server.url, good), /spawn/)
    for (const wrong of [
      new ForwardedTokens(`${secret}!`).mint(claims, worker.server.url),
      // For another worker, of another time, and as gateways made them that named neither.
      new ForwardedTokens(secret).mint(claims, open.server.url),
      new ForwardedTokens(secret, () => Date.now() - 3 * 60_000).mint(claims, worker.server.url),
      new ForwardedTokens(secret, () => Date.now() + 3 * 60_000).mint(claims, worker.server.url),
      `gateway.${keyedText(secret, 'gateway client', { r: ['spawn'], s: 's', p: 1 })}`,
      `${prefix}.${forged}.${hash}`,
      `${prefix}.${body}.${hash.slice(0, -2)}`,
      `${prefix}.${body}`,
      `${good}.more`,
      'gateway.',
    ])
      assert.is(await roleOf(worker.server.url, wrong), 'BRIDGE_UNAUTHORISED')
    // One without a secret lets everybody of this machine in, but not by such a token.
    assert.is(await roleOf(open.server.url, good), 'BRIDGE_UNAUTHORISED')
  })
})
