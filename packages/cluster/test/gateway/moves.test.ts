import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { WebSocketServer, type WebSocket } from 'ws'
import type { GatewayOptions } from '../../src/gateway/gatewayOptions.ts'
import { serveGateway } from '../../src/serveGateway.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { dial, type Bare } from '../../../bridge/test/server/bridgeHarness.ts'
import { hasty, secret } from './fleet.ts'

const patient = { timeoutMs: 20_000 }
const welcome = {
  type: 'welcome',
  sessionId: 's',
  role: 'admin',
  definitions: [],
  limits: { maxFrameBytes: 1, framesPerSecond: 1, maxSubscriptions: 1 },
}

interface Frame {
  readonly type: string
  readonly id: string
  readonly fromSeq?: number
}

/** A worker whose answers the test makes up. */
class Puppet {
  readonly heard: Frame[] = []
  readonly sockets: WebSocket[] = []
  readonly #server: WebSocketServer
  readonly #looks = new Set<() => void>()

  constructor({ cleanup }: Pick<CaseContext, 'cleanup'>) {
    this.#server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    this.#server.on('connection', (socket) => {
      this.sockets.push(socket)
      socket.on('message', (data: Buffer) => {
        const frame = JSON.parse(data.toString()) as Frame
        if (frame.type === 'hello') return socket.send(JSON.stringify(welcome))
        this.heard.push(frame)
        for (const look of this.#looks) look()
      })
    })
    cleanup(() => this.end())
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/bridge`
  }

  async listening(): Promise<this> {
    await once(this.#server, 'listening')
    return this
  }

  /** Says something to the last client. */
  say(...frames: object[]): void {
    for (const frame of frames) this.sockets.at(-1)!.send(JSON.stringify(frame))
  }

  /** Resolves with the frame of this number, from 1, of a type. */
  until(type: string, number = 1): Promise<Frame> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = this.heard.filter((frame) => frame.type === type)[number - 1]
        if (found === undefined) return
        this.#looks.delete(look)
        resolve(found)
      }
      this.#looks.add(look)
      look()
    })
  }

  end(): void {
    for (const socket of this.#server.clients) socket.terminate()
    this.#server.close()
  }
}

const record = (seq: number, pad = '') => ({
  type: 'event',
  agentId: 'a1',
  seq,
  event: { type: 'turn.start', seq, pad },
})
const seqsOf = ({ frames }: Bare): number[] =>
  frames.flatMap((frame) => (frame.type === 'event' && frame.live !== true ? [frame.seq] : []))

/** Two workers, the first of which has the agent; a client that reads it. */
async function reading(context: CaseContext, options: Partial<GatewayOptions> = {}) {
  const [one, two] = [await new Puppet(context).listening(), await new Puppet(context).listening()]
  const has = { url: one.url as string | undefined, looks: 0 }
  const directory = () => {
    has.looks += 1
    return has.url === undefined ? undefined : { url: has.url }
  }
  const gateway = await serveGateway({ directory, workers: () => [one.url, two.url], secret, ...options })
  context.cleanup(() => gateway.close())
  const bare = await dial(gateway.url)
  context.cleanup(() => bare.socket.terminate())
  bare.send({ type: 'hello' })
  bare.send({ type: 'agent.subscribe', agentId: 'a1', id: 's1', fromSeq: 3 })
  const { id, fromSeq } = await one.until('agent.subscribe')
  assert.equal([id, fromSeq], ['s1', 3])
  one.say({ type: 'ok', id: 's1', result: { seq: 4 } }, record(3), record(4), {
    type: 'caughtUp',
    agentId: 'a1',
    seq: 4,
  })
  await bare.until(({ type }) => type === 'caughtUp')
  return { one, two, has, bare }
}

describe('an agent that moves, for the client of a gateway', (it) => {
  it('is read on from the next record, and what its old worker says is not heard', patient, async (context) => {
    const { one, two, has, bare } = await reading(context)
    has.url = two.url
    const again = await two.until('agent.subscribe')
    assert.is(again.fromSeq, 5)
    assert.is.not(again.id, 's1')
    await one.until('agent.unsubscribe')
    one.say(record(5, 'old'), {
      type: 'delta',
      agentId: 'a1',
      runId: 'r',
      turnIndex: 0,
      kind: 'text',
      offset: 0,
      text: 'old',
    })
    two.say({ type: 'ok', id: again.id, result: { seq: 6 } }, record(5), record(6))
    await bare.until((frame) => frame.type === 'event' && frame.seq === 6)
    assert.equal(seqsOf(bare), [3, 4, 5, 6])
    assert.not.match(JSON.stringify(bare.frames), /old/)
    // Its own questions are answered to nobody.
    assert.is(bare.frames.filter(({ type }) => type === 'ok').length, 1)
  })

  it('gets what was not answered again, under the same id and in order', patient, async (context) => {
    const { one, two, has, bare } = await reading(context)
    for (const id of ['p1', 'p2']) bare.send({ type: 'agent.prompt', agentId: 'a1', content: id, id })
    await one.until('agent.prompt', 2)
    one.say({ type: 'ok', id: 'p1', result: { requestId: 's/p1' } })
    await bare.until((frame) => frame.type === 'ok' && frame.id === 'p1')
    has.url = two.url
    one.end()
    const prompt = await two.until('agent.prompt')
    assert.is(prompt.id, 'p2')
    two.say({
      type: 'error',
      id: 'p2',
      code: 'AGENT_ELSEWHERE',
      message: 'no',
      elsewhere: { url: 'ws://inner/bridge' },
    })
    assert.is((await two.until('agent.prompt', 2)).id, 'p2')
    two.say({ type: 'ok', id: 'p2', result: { requestId: 's/p2' } })
    await bare.until((frame) => frame.type === 'ok' && frame.id === 'p2')
    assert.not.match(JSON.stringify(bare.frames), /ws:|ELSEWHERE/)
  })

  it('is looked for until somebody has it, without dialling the dead one again and again', patient, async (context) => {
    const { one, two, has, bare } = await reading(context)
    let dialled = 0
    const { port } = new URL(one.url)
    one.end()
    // What comes to its place hangs up at once.
    const grave = new WebSocketServer({ port: Number(port), host: '127.0.0.1' })
    await once(grave, 'listening')
    grave.on('connection', (socket) => socket.terminate())
    grave.on('headers', () => (dialled += 1))
    context.cleanup(() => grave.close())
    const from = has.looks
    while (has.looks < from + 20) await new Promise((resolve) => setImmediate(resolve))
    assert.ok(dialled < 8, `${dialled} times`)
    has.url = two.url
    const { id, fromSeq } = await two.until('agent.subscribe')
    assert.is(fromSeq, 5)
    two.say({ type: 'ok', id, result: { seq: 5 } }, record(5))
    await bare.until((frame) => frame.type === 'event' && frame.seq === 5)
    assert.equal(seqsOf(bare), [3, 4, 5])
  })

  it('is asked for again where a worker that has just lost it has it by the next time', patient, async (context) => {
    const { two, has, bare } = await reading(context)
    has.url = two.url
    for (const [index, code] of ['STORE_LEASE_LOST', 'AGENT_ELSEWHERE', 'STORE_READ_FAILED'].entries()) {
      const { id, fromSeq } = await two.until('agent.subscribe', index + 1)
      assert.is(fromSeq, 5)
      two.say({ type: 'error', id, code, message: 'no' })
    }
    const { id } = await two.until('agent.subscribe', 4)
    two.say({ type: 'ok', id, result: { seq: 5 } }, record(5))
    await bare.until((frame) => frame.type === 'event' && frame.seq === 5)
    assert.equal(
      bare.frames.filter(({ type }) => type === 'error' || type === 'closing'),
      [],
    )
  })

  it(
    'is read on after all workers were away for long, over the same connection, which was told',
    patient,
    async (context) => {
      const { one, two, has, bare } = await reading(context, { clock: hasty(60) })
      one.end()
      two.end()
      const isTold = (frame: object): boolean =>
        'agentId' in frame && 'code' in frame && frame.code === 'AGENT_UNREACHABLE'
      await bare.until(isTold)
      // What is asked meanwhile is refused, each time.
      for (const _ of [1, 2]) {
        const refused = await bare.ask({ type: 'agent.snapshot', agentId: 'a1' })
        assert.is(refused.type === 'error' && refused.code, 'AGENT_UNREACHABLE')
      }
      assert.is(bare.frames.filter((frame) => isTold(frame) && !('id' in frame)).length, 1)
      const three = await new Puppet(context).listening()
      has.url = three.url
      const { id, fromSeq } = await three.until('agent.subscribe')
      assert.is(fromSeq, 5)
      three.say({ type: 'ok', id, result: { seq: 6 } }, record(5), record(6))
      await bare.until((frame) => frame.type === 'event' && frame.seq === 6)
      assert.equal(seqsOf(bare), [3, 4, 5, 6])
      assert.is(bare.socket.readyState, 1)
    },
  )

  it('slows its worker where the client does not read, and nothing is lost', patient, async (context) => {
    const { one, bare } = await reading(context)
    const inner = Reflect.get(bare.socket, '_socket') as Socket
    inner.pause()
    const pad = 'x'.repeat(100_000)
    const last = 404
    for (let seq = 5; seq <= last; seq += 1) one.say(record(seq, pad))
    const worker = one.sockets.at(-1)!
    // What the gateway does not take waits at the worker.
    for (let turn = 0; turn < 2_000 && worker.bufferedAmount > 0; turn += 1)
      await new Promise((resolve) => setImmediate(resolve))
    assert.ok(worker.bufferedAmount > 10_000_000, `${worker.bufferedAmount} bytes wait`)
    inner.resume()
    await bare.until((frame) => frame.type === 'event' && frame.seq === last)
    assert.equal(
      seqsOf(bare),
      Array.from({ length: last - 2 }, (_, index) => index + 3),
    )
  })
})
