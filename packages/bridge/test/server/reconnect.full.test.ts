import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { fileStore } from '../../../stores/src/fileStore.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { gate, never, stalled, tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { storeFolder } from '../../../stores/test/storeFolder.ts'
import { Heard, logOf, serveAgents, untilStatus, type Bare } from './bridgeHarness.ts'
import { seeded, startCutter, type Cutter } from './cutter.ts'

async function ticks(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve))
}

/** Calls a tool `turns` times, then says how often it did. */
const busy = (turns: number) =>
  defineAgent({
    name: 'busy',
    model: policyModel(({ messages }) => {
      const done = messages.filter(({ role }) => role === 'toolResult').length
      if (done >= turns) return `Looked ${done} times.`
      return { text: `Look ${done}: ${'word '.repeat(8)}`, toolCalls: [{ name: 'look', input: { done } }] }
    }),
    tools: [tool('look', async () => (await ticks(3), 'seen'), { effects: 'none' })],
    limits: { turns: 1_000 },
  })

/** Cuts a wire at random moments until something is done. */
async function cutUntil(work: Promise<unknown>, wire: Cutter, random: () => number): Promise<void> {
  const done = new AbortController()
  void work.then(() => done.abort())
  while (!done.signal.aborted) {
    await ticks(Math.floor(random() * 60))
    wire.cut()
  }
}

const seqsOf = (events: readonly AgentEvent[]): number[] => events.map(({ seq }) => seq)

/** Text of each reply as a listener put it together, by turn. */
function textsOf(events: readonly AgentEvent[]): Map<string, string> {
  const texts = new Map<string, string>()
  for (const event of events) {
    if (event.type === 'reply.start' || event.type === 'reply.reset') texts.set(`${event.turnIndex}`, '')
    if (event.type !== 'reply.delta') continue
    const key = `${event.turnIndex}`
    texts.set(key, (texts.get(key) ?? '').slice(0, event.offset) + event.text)
  }
  return texts
}

describe('a client that is cut off', (it) => {
  for (let seed = 1; seed <= 8; seed += 1) {
    it(`misses no record and hears none twice, by seed ${seed}`, { timeoutMs: 20_000 }, async (context) => {
      const random = seeded(seed)
      const serving = await serveAgents(context, [busy(100)])
      const wire = await startCutter(context, serving.server.port)
      const client = serving.connect({ retry: { baseMs: 1, maxMs: 4 }, random }, wire.url)
      const agent = await client.spawn('busy', { id: 'a1' })
      const [heard, plain] = [new Heard(), new Heard()]
      agent.subscribe(heard.listen, { fromSeq: 1 })
      // One beside the server, which nobody disturbs.
      serving.runtime.agent('a1')!.subscribe(plain.listen)
      const run = agent.prompt('Look around.')
      let left = 0
      agent.subscribe(() => {
        if (--left > 0) return
        left = 10 + Math.floor(random() * 60)
        setImmediate(() => wire.cut())
      })
      assert.is((await run.result).text, 'Looked 100 times.')
      assert.is((await run.result).turns, 101)
      await heard.until(({ type }) => type === 'run.end')
      assert.equal(heard.logged, await logOf(serving.store, 'a1'))
      assert.equal(heard.logged.slice(1), plain.logged)
      // How often depends on how fast the machine connects again.
      assert.ok(wire.connections > 2, `only ${wire.connections} connections`)
      for (const [turn, text] of textsOf(heard.events)) assert.ok(textsOf(plain.events).get(turn)?.startsWith(text))
    })
  }

  it('is sent every record once, by whichever way it comes in', { timeoutMs: 20_000 }, async (context) => {
    const { dir } = await storeFolder(context)
    const definition = busy(60)
    const serving = await serveAgents(context, [definition], { runtime: { store: fileStore(dir) } })
    const agent = await serving.runtime.spawn(definition, { id: 'a1' })
    const run = agent.prompt('Look around.')
    const bares: Bare[] = []
    for (let n = 0; n < 40; n += 1) {
      const bare = await serving.dial({ hello: {} })
      bare.send({ type: 'agent.subscribe', id: 's', agentId: 'a1', deltas: false })
      bares.push(bare)
      await ticks(n % 7)
    }
    await run.result
    const log = await logOf(serving.store, 'a1')
    for (const bare of bares) {
      await bare.until((frame) => frame.type === 'event' && frame.seq === log.length && frame.live !== true)
      const events = bare.frames.flatMap((frame) =>
        frame.type === 'event' && frame.live !== true ? [frame.event as object] : [],
      )
      assert.equal(events, log)
    }
  })

  it('gives every command once and in order, however often it is sent', { timeoutMs: 20_000 }, async (context) => {
    const echo = defineAgent({
      name: 'echo',
      maxQueue: 1_000,
      model: policyModel(({ messages }) => JSON.stringify(messages.at(-1)?.content)),
    })
    const random = seeded(99)
    const serving = await serveAgents(context, [echo])
    const wire = await startCutter(context, serving.server.port)
    const agent = await serving.connect({ retry: { baseMs: 1, maxMs: 4 } }, wire.url).spawn('echo', { id: 'a1' })
    const runs = Array.from({ length: 100 }, (_, n) => agent.prompt(`prompt ${n}`))
    const results = Promise.all(runs.map(({ result }) => result))
    await cutUntil(results, wire, random)
    for (const [n, { text }] of (await results).entries()) assert.match(text, `prompt ${n}"`)
    const records = (await logOf(serving.store, 'a1')) as LogRecord[]
    const said = records.flatMap((record) => (record.type === 'message.added' ? [JSON.stringify(record.message)] : []))
    assert.is(said.length, 100)
    said.forEach((text, n) => assert.match(text, `prompt ${n}"`))
  })

  it('is told the text of the reply under way, without what it has heard already', async (context) => {
    const more = gate()
    const model = scriptedModel([
      {
        parts: (async function* () {
          for (const text of ['one ', 'two ']) yield { type: 'text.delta', text } as const
          await more.promise
          for (const text of ['three ', 'four']) yield { type: 'text.delta', text } as const
          const content = [{ type: 'text', text: 'one two three four' }] as const
          yield {
            type: 'done',
            reply: { content, stopReason: 'stop', usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 } },
          } as const
        })(),
      },
    ])
    const serving = await serveAgents(context, [defineAgent({ name: 'tester', model })])
    const wire = await startCutter(context, serving.server.port)
    const client = serving.connect({}, wire.url)
    const agent = await client.spawn('tester', { id: 'a1' })
    const heard = new Heard()
    agent.subscribe(heard.listen)
    const run = agent.prompt('count')
    await heard.until((event) => event.type === 'reply.delta' && event.text === 'two ')
    const local = new Heard()
    serving.runtime.agent('a1')!.subscribe(local.listen)
    wire.cut()
    await untilStatus(client, 'reconnecting')
    more.resolve()
    await local.until((event) => event.type === 'reply.delta' && event.text === 'four')
    assert.is((await run.result).text, 'one two three four')
    const texts = heard.events.filter((event) => event.type === 'reply.delta')
    for (const [index, { offset }] of texts.entries())
      assert.is(
        offset,
        texts.slice(0, index).reduce((sum, { text }) => sum + text.length, 0),
      )
  })

  it('hears what had come of a reply when it comes in the middle', async (context) => {
    const agentOf = defineAgent({ name: 'tester', model: scriptedModel([stalled(['so ', 'far '], never)]) })
    const serving = await serveAgents(context, [agentOf])
    const local = await serving.runtime.spawn(agentOf, { id: 'a1' })
    const near = new Heard()
    local.subscribe(near.listen)
    local.prompt('go')
    await near.until((event) => event.type === 'reply.delta' && event.text === 'far ')
    const agent = serving.connect().agent('a1')
    const heard = new Heard()
    agent.subscribe(heard.listen)
    const first = await heard.until(({ type }) => type === 'reply.delta')
    assert.ok(first.type === 'reply.delta')
    assert.is(first.text, 'so far ')
    assert.is(first.offset, 0)
    assert.is(first.runId, 'a1/r0')
    local.abort()
  })

  it('goes on waiting for a run that began while it was away', async (context) => {
    const open = gate()
    const slow = defineAgent({
      name: 'slow',
      model: policyModel(async () => (await open.promise, 'late')),
    })
    const serving = await serveAgents(context, [slow])
    const wire = await startCutter(context, serving.server.port)
    const client = serving.connect({}, wire.url)
    const agent = await client.spawn('slow', { id: 'a1' })
    const run = agent.prompt('go')
    await agent.snapshot()
    wire.cut()
    await untilStatus(client, 'reconnecting')
    open.resolve()
    assert.is((await run.result).text, 'late')
  })
})

describe('a server that is killed', (it) => {
  for (let seed = 1; seed <= 6; seed += 1) {
    it(`is followed by the next one on its log, by seed ${seed}`, { timeoutMs: 20_000 }, async (context) => {
      const random = seeded(seed * 1_000)
      const { dir: root } = await storeFolder(context)
      const turns = 60
      let folder = join(root, '0')
      let serving = await serveAgents(context, [busy(turns)], { runtime: { store: fileStore(folder) } })
      const wire = await startCutter(context, serving.server.port)
      const client = serving.connect({ retry: { baseMs: 1, maxMs: 10 }, random }, wire.url)
      const errors: string[] = []
      client.onError(({ message }) => errors.push(message))
      const agent = await client.spawn('busy', { id: 'a1' })
      const heard = new Heard()
      agent.subscribe(heard.listen, { fromSeq: 1 })
      const run = agent.prompt('Look around.')
      for (let life = 1; life <= 3; life += 1) {
        const target = heard.events.length + 20 + Math.floor(random() * 150)
        // On a loaded machine a run may have come to its end by then.
        const isDone = (event: AgentEvent): boolean => event.type === 'run.end' && event.stopReason === 'stop'
        await heard.until((event) => heard.events.length >= target || isDone(event))
        // As SIGKILL leaves it: the files as they are at this moment, and nobody to answer.
        wire.hold()
        const next = join(root, `${life}`)
        await cp(folder, next, { recursive: true, filter: (file) => !/\.(lock|tmp)/.test(file) })
        wire.cut()
        folder = next
        const dead = serving
        serving = await serveAgents(context, [busy(turns)], { runtime: { store: fileStore(folder) } })
        wire.lead(serving.server.port)
        wire.release()
        wire.cut()
        await dead.server.close()
      }
      const result = await run.result
      assert.is(result.text, `Looked ${turns} times.`)
      await heard.until((event) => event.type === 'run.end' && event.stopReason === 'stop')
      assert.equal(heard.logged, await logOf(serving.store, 'a1'))
      assert.equal(
        seqsOf(heard.logged),
        seqsOf(heard.logged).map((_, index) => index + 1),
      )
      assert.equal(errors, [])
    })
  }

  it('does not run a prompt again that the one before had taken', async (context) => {
    const { dir: folder } = await storeFolder(context)
    const echo = defineAgent({ name: 'echo', model: policyModel(({ messages }) => `${messages.length}`) })
    const store = fileStore(folder)
    const first = await createRuntime({ store })
    context.cleanup(() => first.close().catch(() => {}))
    const server = await first.serve({ definitions: [echo], limits: { drainMs: 50 } })
    const second = await serveAgents(context, [echo])
    const wire = await startCutter(context, server.port)
    const client = second.connect({}, wire.url)
    const agent = await client.spawn('echo', { id: 'a1' })
    await agent.snapshot()
    // The prompt gets there, and its answer does not come back.
    wire.hold()
    const run = agent.prompt('once')
    const local = new Heard()
    first.agent('a1')!.subscribe(local.listen)
    await local.until(({ type }) => type === 'run.end')
    await first.close()
    const third = await serveAgents(context, [echo], { runtime: { store: fileStore(folder) } })
    wire.lead(third.server.port)
    wire.release()
    wire.cut()
    assert.is((await run.result).text, '1')
    const records = (await logOf(third.store, 'a1')) as LogRecord[]
    assert.is(records.filter(({ type }) => type === 'run.start').length, 1)
    assert.is(records.filter(({ type }) => type === 'message.added').length, 1)
  })

  it('has not lost what it had said of a log that is gone', async (context) => {
    const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })
    const store = memoryStore()
    const full = await serveAgents(context, [echo], { runtime: { store } })
    const empty = await serveAgents(context, [echo])
    await empty.runtime.spawn(echo, { id: 'a1' })
    const wire = await startCutter(context, full.server.port)
    const client = full.connect({}, wire.url)
    const errors: string[] = []
    client.onError(({ code }) => errors.push(code))
    const agent = await client.spawn('echo', { id: 'a1' })
    const heard = new Heard()
    agent.subscribe(heard.listen)
    await agent.prompt('one').result
    wire.lead(empty.server.port)
    wire.cut()
    // The log is the truth: the client says so, and goes on from where it ends.
    await untilStatus(client, 'reconnecting')
    assert.is((await agent.prompt('two').result).text, 'yes')
    assert.equal(errors, ['INVALID_OPTION'])
  })
})
