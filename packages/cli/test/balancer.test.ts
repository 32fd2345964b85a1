import { connect, createServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { Balancer } from '../src/cluster/balancer.ts'
import { systemClock } from '../../../src/protocol/ports/clock.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'

type Answer = (stream: ServerHttp2Stream) => void

/** A worker that answers so; it can be ended as if it were killed. `health`: the status of its health. */
async function workerThat({ cleanup }: CaseContext, answer: Answer, health = (): number => 200) {
  const server = createServer()
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  server.on('stream', (stream, { ':path': path }) => {
    stream.on('error', () => {})
    if (path === '/health') stream.respond({ ':status': health() }, { endStream: true })
    else answer(stream)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const end = (): void => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  cleanup(end)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, end }
}

async function balancerOf({ cleanup }: CaseContext) {
  const balancer = await Balancer.listen(systemClock)
  cleanup(() => balancer.close())
  const session = connect(balancer.url)
  session.on('error', () => {})
  cleanup(() => session.destroy())
  const ask = (text: string) => {
    const stream = session.request({ ':method': 'POST', ':path': '/invoke' })
    stream.on('error', () => {})
    stream.setEncoding('utf8').end(text)
    let body = ''
    stream.on('data', (part: string) => (body += part))
    const status = new Promise<number>((resolve) =>
      stream.once('response', ({ ':status': code }) => resolve(Number(code))),
    )
    const closed = new Promise<{ body: string; code: number }>((resolve) =>
      stream.once('close', () => resolve({ body, code: stream.rstCode ?? 0 })),
    )
    return { stream, status, closed }
  }
  /** Once a worker is known to be there. */
  const answered = async (text: string): Promise<string> => {
    for (;;) {
      const { status, closed } = ask(text)
      if ((await status) !== 503) return (await closed).body
    }
  }
  return { balancer, ask, answered }
}

const echo: Answer = (stream) => {
  stream.respond({ ':status': 200 })
  stream.pipe(stream)
}

/** A worker is looked at once a second: these cases wait for several looks. */
const looked = { timeoutMs: 20_000 }

describe('the balancer of a cluster', (it) => {
  it('carries what both ends say, while they say it', async (context) => {
    const { balancer, answered } = await balancerOf(context)
    balancer.add((await workerThat(context, echo)).url)
    assert.is(await answered('an attempt'), 'an attempt')
  })

  it('refuses at once while there is no worker', async (context) => {
    const { ask } = await balancerOf(context)
    assert.is(await ask('x').status, 503)
  })

  it('sends to the worker that has fewest requests', async (context) => {
    const { balancer, ask } = await balancerOf(context)
    balancer.add((await workerThat(context, (stream) => stream.respond({ ':status': 201 }))).url)
    while ((await ask('held').status) === 503);
    balancer.add((await workerThat(context, echo)).url)
    while ((await ask('held or answered').status) === 201);
    for (let request = 0; request < 3; request++) {
      const { status, closed } = ask('answered')
      assert.is(await status, 200)
      await closed
    }
  })

  it('says that a worker is gone, and not that it has said all', async (context) => {
    const { balancer, ask } = await balancerOf(context)
    const worker = await workerThat(context, (stream) => {
      stream.respond({ ':status': 200 })
      stream.write('half')
    })
    balancer.add(worker.url)
    for (;;) {
      const { status, closed, stream } = ask('x')
      if ((await status) === 503) continue
      await new Promise((resolve) => stream.once('data', resolve))
      worker.end()
      const { body, code } = await closed
      assert.is(body, 'half')
      assert.is.not(code, 0)
      return
    }
  })

  it('takes what a worker has under way that is not well to one that is', looked, async (context) => {
    const { balancer, ask } = await balancerOf(context)
    const state = { health: 200 }
    const held: Answer = (stream) => stream.respond({ ':status': 201 })
    balancer.add((await workerThat(context, held, () => state.health)).url)
    let asked = ask('held')
    while ((await asked.status) === 503) asked = ask('held')
    state.health = 503
    balancer.add((await workerThat(context, echo)).url)
    assert.is.not((await asked.closed).code, 0)
    for (let request = 0; request < 3; request++) assert.is(await ask('answered').status, 200)
  })

  it('leaves to a worker that is not well what nobody else could do better', looked, async (context) => {
    const { balancer, ask, answered } = await balancerOf(context)
    const looks = { count: 0, third: Promise.withResolvers<void>() }
    const health = (): number => {
      looks.count++
      if (looks.count === 3) looks.third.resolve()
      return 503
    }
    balancer.add((await workerThat(context, echo, health)).url)
    assert.is(await answered('an attempt'), 'an attempt')
    const { stream, closed, status } = ask('held')
    assert.is(await status, 200)
    await looks.third.promise
    stream.end()
    assert.equal(await closed, { body: 'held', code: 0 })
  })

  it('ends a request at the worker when who asked has given it up', async (context) => {
    const gone = Promise.withResolvers<void>()
    const { balancer, ask } = await balancerOf(context)
    const worker = await workerThat(context, (stream) => {
      stream.respond({ ':status': 200 })
      stream.once('close', () => gone.resolve())
    })
    balancer.add(worker.url)
    for (;;) {
      const { status, stream } = ask('x')
      if ((await status) === 503) continue
      stream.close(8)
      return await gone.promise
    }
  })
})
