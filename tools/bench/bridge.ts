/**
 * The bridge beside a raw broadcast: how many events a second reach 1 and 100 clients, against the package `ws` sending the same
 * bytes in the same messages to as many sockets, in turn and in one process; and how long a client waits for a pong, and for the
 * first event of a prompt, against an echo. Ratios are ours / raw: 1 is as fast. The clients are bare sockets, which count bytes and
 * read nothing; the events come from a stand-in for an agent, so that only the bridge is measured.
 *
 *   node tools/bench/bridge.ts [--events 20000] [--rounds 5] [--trips 2000] [--clients 1,100]
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { WebSocket, WebSocketServer } from 'ws'
import { createRuntime, defineAgent, memoryStore, policyModel } from '../../src/index.ts'
import { bridgeProtocol } from '../../packages/wire/src/bridgeProtocol.ts'
import { serve } from '../../packages/bridge/src/server/serve.ts'
import { systemClock } from '../../src/protocol/ports/clock.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import { format, median, now } from './measure.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
    trips: { type: 'string', default: '2000' },
    clients: { type: 'string', default: '1,100' },
  },
})
const [eventCount, rounds, trips] = [Number(values.events), Number(values.rounds), Number(values.trips)] as const
/** Events of one tick, and those on their way before the clients must have read. */
const burst = 16
const ahead = 512
const limits = { framesPerSecond: 1e9, waitingCommands: 1e6, connections: 10_000, drainMs: 50 }
const words = 'What was found in the file, in some words of no particular meaning. '.repeat(2)

/** Who sends the same events to all its clients, burst by burst. */
interface Contender {
  readonly url: string
  /** Sends the next burst. */
  send(): void
  close(): Promise<unknown>
}

/** A client that counts what it gets. */
class Counter {
  readonly socket: WebSocket
  bytes = 0
  messages: string[] | undefined
  #wanted = 0
  #reached: (() => void) | undefined

  constructor(url: string) {
    this.socket = new WebSocket(url, bridgeProtocol)
    this.socket.on('message', (data: Buffer) => {
      this.bytes += data.length
      this.messages?.push(data.toString())
      if (this.bytes >= this.#wanted) this.#reached?.()
    })
  }

  /** Resolves once so many bytes have come. */
  async until(bytes: number): Promise<void> {
    this.#wanted = bytes
    if (this.bytes < bytes) await new Promise<void>((resolve) => (this.#reached = resolve))
    this.#reached = undefined
  }
}

/** The bridge over an agent that does nothing but tell events. */
async function bridge(): Promise<Contender> {
  const listeners = new Set<(event: object) => void>()
  const state = { lastSeq: 0 }
  const talker = {
    id: 'a1',
    path: [],
    get lastSeq() {
      return state.lastSeq
    },
    growingReply: undefined,
    durable: () => undefined,
    wake: async () => {},
    subscribe(listener: (event: object) => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  } as unknown as Agent
  const none = (): never => {
    throw new Error('there is one agent, which runs')
  }
  const world = { agents: () => [talker], agent: () => talker, onAgent: () => () => {}, spawn: none, resume: none }
  const server = await serve(world, { store: memoryStore(), clock: systemClock }, { limits })
  return {
    url: server.url,
    send() {
      for (let left = burst; left > 0; left -= 1) {
        state.lastSeq += 1
        const at = { seq: state.lastSeq, time: 1_700_000_000_000, runId: 'a1/r1', turnIndex: state.lastSeq }
        const message = { role: 'user', source: 'prompt', content: [{ type: 'text', text: words }] }
        const node = { nodeId: state.lastSeq, parentId: state.lastSeq - 1, message }
        const event = { v: 3, ...at, type: 'message.added', ...node, agentId: 'a1', path: [] }
        for (const listener of listeners) listener(event)
      }
    },
    close: () => server.close(),
  }
}

/** `ws` alone, sending texts that are there already. */
async function broadcast(texts: readonly string[]): Promise<Contender> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
  await once(server, 'listening')
  let next = 0
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    send() {
      const text = texts[next++ % texts.length]!
      for (const socket of server.clients) socket.send(text)
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

async function join(contender: Contender, count: number): Promise<Counter[]> {
  const counters = Array.from({ length: count }, () => new Counter(contender.url))
  await Promise.all(counters.map(({ socket }) => once(socket, 'open')))
  return counters
}

/** Makes the bridge's clients hear the agent. */
async function subscribe(counters: readonly Counter[]): Promise<void> {
  for (const counter of counters) {
    counter.messages = []
    counter.socket.send('{"type":"hello"}')
    counter.socket.send('{"type":"agent.subscribe","id":"s","agentId":"a1","fromSeq":1}')
  }
  await Promise.all(
    counters.map(async (counter) => {
      while (!counter.messages!.some((text) => text.includes('caughtUp'))) await once(counter.socket, 'message')
      counter.messages = undefined
      counter.bytes = 0
    }),
  )
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Events a second that reach every client. */
async function rate(contender: Contender, counters: readonly Counter[], bytesOf: (bursts: number) => number) {
  const bursts = Math.ceil(eventCount / counters.length / burst)
  for (const counter of counters) counter.bytes = 0
  const started = now()
  for (let sent = 1; sent <= bursts; sent += 1) {
    contender.send()
    await tick()
    if (sent % (ahead / burst) === 0 || sent === bursts)
      await Promise.all(counters.map((counter) => counter.until(bytesOf(sent))))
  }
  return (bursts * burst * counters.length) / ((now() - started) / 1_000)
}

async function compare(count: number): Promise<void> {
  // What one client of a bridge gets is what the raw server sends.
  const model = await bridge()
  const [reader] = await join(model, 1)
  await subscribe([reader!])
  const bursts = Math.ceil(eventCount / count / burst) * (rounds + 1)
  const sizes: number[] = [0]
  const texts: string[] = []
  for (let n = 0; n < bursts; n += 1) {
    reader!.messages = []
    const message = once(reader!.socket, 'message')
    model.send()
    await message
    texts.push(...reader!.messages)
    sizes.push(sizes.at(-1)! + Buffer.byteLength(reader!.messages.join('')))
  }
  if (texts.length !== bursts) throw new Error(`${bursts} bursts came in ${texts.length} messages`)
  reader!.socket.terminate()
  await model.close()

  const [ours, raw] = [await bridge(), await broadcast(texts)]
  const [our, theirs] = [await join(ours, count), await join(raw, count)]
  await subscribe(our)
  const figures: { ours: number; raw: number }[] = []
  let at = 0
  for (let round = 0; round <= rounds; round += 1) {
    const from = at
    const bytesOf = (sent: number): number => sizes[from + sent]! - sizes[from]!
    const figure = { ours: await rate(ours, our, bytesOf), raw: await rate(raw, theirs, bytesOf) }
    at += Math.ceil(eventCount / count / burst)
    // The first one warms up.
    if (round > 0) figures.push(figure)
  }
  for (const { socket } of [...our, ...theirs]) socket.terminate()
  await Promise.all([ours.close(), raw.close()])
  const [a, b] = [median(figures.map((figure) => figure.ours)), median(figures.map((figure) => figure.raw))]
  const ratio = median(figures.map((figure) => figure.ours / figure.raw))
  console.log(
    `${String(count).padStart(4)} client${count === 1 ? ' ' : 's'}: bridge ${format(a, 0)} events/s, raw ${format(b, 0)}, ratio ${format(ratio, 2)}`,
  )
}

const percentile = (sorted: readonly number[], share: number): number => sorted[Math.floor(sorted.length * share)]!

/** Microseconds of a trip: what `trip` gives, or else as long as it takes. */
async function measureTrips(what: string, count: number, trip: (n: number) => Promise<number | void>): Promise<void> {
  for (let n = 0; n < count / 10; n += 1) await trip(-n - 1)
  const times: number[] = []
  for (let n = 0; n < count; n += 1) {
    const called = now()
    times.push((await trip(n)) ?? (now() - called) * 1_000)
  }
  times.sort((a, b) => a - b)
  const [half, most] = [percentile(times, 0.5), percentile(times, 0.99)]
  console.log(`${what.padEnd(24)} p50 ${format(half, 0).padStart(6)} µs, p99 ${format(most, 0).padStart(6)} µs`)
}

async function roundTrips(): Promise<void> {
  const echo = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
  echo.on('connection', (socket) => socket.on('message', (data: Buffer) => socket.send(data.toString())))
  await once(echo, 'listening')
  const raw = new WebSocket(`ws://127.0.0.1:${(echo.address() as AddressInfo).port}`)
  await once(raw, 'open')
  const runtime = await createRuntime()
  const definition = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })
  const server = await runtime.serve({ definitions: [definition], limits })
  const socket = new WebSocket(server.url, bridgeProtocol)
  await once(socket, 'open')
  const until = (of: WebSocket, text: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (data: Buffer): void => {
        if (!data.includes(text)) return
        of.off('message', look)
        resolve()
      }
      of.on('message', look)
    })
  const ask = async (frame: string, answer: string): Promise<void> => {
    const came = until(socket, answer)
    socket.send(frame)
    await came
  }
  await ask('{"type":"hello"}', 'welcome')
  await measureTrips('raw echo', trips, async (n) => {
    const came = until(raw, `"e${n}"`)
    raw.send(`{"type":"ping","id":"e${n}"}`)
    await came
  })
  await measureTrips('ping to pong', trips, (n) => ask(`{"type":"ping","id":"p${n}"}`, `"p${n}"`))
  // Each its own agent, so that the conversation stays as short.
  await measureTrips('prompt to first event', Math.ceil(trips / 10), async (n) => {
    const agent = await runtime.spawn(definition)
    await ask(`{"type":"agent.subscribe","id":"s${n}","agentId":"${agent.id}"}`, 'caughtUp')
    const over = until(socket, '"run.end"')
    const started = now()
    await ask(`{"type":"agent.prompt","id":"q${n}","agentId":"${agent.id}","content":"go"}`, '"run.start"')
    const micros = (now() - started) * 1_000
    await over
    await agent.stop()
    return micros
  })
  raw.terminate()
  socket.terminate()
  await new Promise((resolve) => echo.close(resolve))
  await runtime.close()
}

for (const count of values.clients.split(',').map(Number)) await compare(count)
await roundTrips()
