import { crc32 } from 'node:zlib'
import { foldContext, type KeptContext } from '../../src/machines/rebuildContext.ts'
import { keptIn, type KeptState } from '../../src/runtime/agents/keptAgent.ts'
import type { AgentOptions } from '../../src/actors/define/defineAgent.ts'
import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import type { Checkpoint } from '../../src/protocol/ports/checkpoints.ts'
import type { Logger } from '../../src/protocol/ports/logger.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { ErasableStore, Store } from '../../src/protocol/ports/store.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { counter, gate, quiet, tool } from '../support/agentHarness.ts'
import { checkLog } from '../support/journeyRules.ts'
import { recordsOf } from '../journeys/cutLogs.ts'
import { emptyMemory } from '../../packages/tools/test/memory/memorySupport.ts'
import { bodyOf } from '../../src/runtime/agents/sharedState.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

/** An agent whose answers count what it is asked with. */
const define = (rest: Partial<AgentOptions> = {}, requests: ModelRequest[] = []) =>
  defineAgent({
    name: 'a',
    model: policyModel((request) => {
      requests.push(request)
      return `answer ${request.messages.length}`
    }),
    ...rest,
  })

/** A store that outlives its runtimes, as one on a disk does, and what was read of it. */
function watched() {
  const inner = memoryStore()
  const { checkpoints } = inner
  const reads: { from: number; records: number }[] = []
  const store: ErasableStore = {
    ...inner,
    checkpoints: { read: (id) => checkpoints!.read(id), write: (...given) => checkpoints!.write(...given) },
    async *read(agentId, from = 1, limit) {
      const seen = { from, records: 0 }
      reads.push(seen)
      for await (const record of inner.read(agentId, from, limit)) {
        seen.records += 1
        yield record
      }
    },
    close: async () => {},
  }
  return { store, reads, checkpoints: store.checkpoints! }
}

async function start({ cleanup }: CaseContext, store: Store, rest: object = {}): Promise<Runtime> {
  const runtime = await createRuntime({ store, clock: simulatedClock(), newId: counter('q'), ...rest })
  cleanup(() => runtime.close().catch(() => {}))
  return runtime
}

const nothing = (): void => {}

/** A logger with the warnings that it was given. */
function lines() {
  const warnings: string[] = []
  const warn: Logger['warn'] = (_, message) => void warnings.push(message)
  return { logger: { debug: nothing, info: nothing, error: nothing, warn }, warnings }
}

/** A log of about so many records, whose agent was let go of. */
async function work(context: CaseContext, store: Store, records = 300): Promise<void> {
  const runtime = await start(context, store)
  const agent = await runtime.spawn(define(), { id: 'a' })
  while (agent.lastSeq < records) await agent.prompt(`prompt ${agent.lastSeq}`).result
  await runtime.detach('a')
}

/** A long log with its checkpoint. */
async function long(context: CaseContext) {
  const known = watched()
  await work(context, known.store)
  const checkpoint = (await known.checkpoints.read('a'))!
  return { ...known, checkpoint, records: await recordsOf(known.store, 'a') }
}

const contextIn = (checkpoint: Checkpoint, records: readonly LogRecord[]): KeptContext =>
  keptIn(checkpoint, records[checkpoint.seq - 1]).kept.context

const contextOf = (records: readonly LogRecord[]): KeptContext =>
  JSON.parse(JSON.stringify(foldContext(records).keep())) as KeptContext

/** One that says that there is a summary, which its nodes do not have. */
function withSummary(body: Uint8Array): Uint8Array {
  const length = new DataView(body.buffer, body.byteOffset).getUint32(0, true)
  const kept = JSON.parse(Buffer.from(body.subarray(4, 4 + length)).toString()) as KeptState
  const { conversation } = kept
  const overlays = [{ nodeId: conversation.tree.lastNodeId + 1, from: 1, to: 2 }]
  return bodyOf({ ...kept, conversation: { ...conversation, overlays } }, [body.subarray(4 + length)])
}

/** Puts another checkpoint in the place of the one there is. */
async function put(store: Store, checkpoint: Checkpoint): Promise<void> {
  const lease = await store.open('a')
  await store.checkpoints!.write('a', checkpoint)
  await lease.release()
}

describe('a long log', (it) => {
  it('is opened from its checkpoint and the records since, and its agent goes on as ever', async (context) => {
    const { store, reads, records } = await long(context)
    reads.length = 0
    const runtime = await start(context, store)
    const requests: ModelRequest[] = []
    const agent = await runtime.resume('a', define({}, requests))
    assert.equal(reads, [{ from: records.length, records: 1 }])
    assert.equal(
      agent.conversation.trunk().map(({ message }) => message),
      records.flatMap((record) =>
        record.type === 'message.added' || record.type === 'reply.end' ? [record.message] : [],
      ),
    )
    const { text } = await agent.prompt('and now?').result
    assert.is(text, `answer ${agent.conversation.trunk().length - 1}`)
    assert.is(requests[0]?.messages.length, agent.conversation.trunk().length - 1)
    assert.ok(await agent.wasAsked('q1'), 'requests of before are known')
    assert.is(await agent.wasAsked('nobody'), false)
    await runtime.close()
    assert.equal(checkLog(await recordsOf(store, 'a'), { isWhole: true }), [])
  })

  it('is opened from its end again and again, as its checkpoint follows it', async (context) => {
    const { store, reads, checkpoint } = await long(context)
    await goOn(context, store, 300)
    const newer = await store.checkpoints!.read('a')
    assert.ok(newer!.seq > checkpoint.seq + 255)
    reads.length = 0
    const runtime = await start(context, store)
    const agent = await runtime.open('a', define())
    assert.ok(reads.every(({ records }) => records < 10))
    assert.is(agent.conversation.log().length, agent.conversation.trunk().length)
    assert.is(agent.conversation.log()[0]?.id, 1)
  })

  it('has one from where it was compacted, so that nobody folds that again', async (context) => {
    const { store, checkpoints } = watched()
    const runtime = await start(context, store)
    const model = policyModel(() => 'so it is, again and again. '.repeat(100))
    const compacting = define({ model, compaction: { contextWindow: 100_000, keepRecent: 2 } })
    const agent = await runtime.spawn(compacting, { id: 'a' })
    while (agent.lastSeq < 50) await agent.prompt('go').result
    await runtime.detach('a')
    assert.is(await checkpoints.read('a'), undefined)
    const again = await runtime.resume('a', compacting)
    again.compact()
    await again.settled()
    const { lastSeq } = again
    assert.ok((await recordsOf(store, 'a')).some((record) => record.type === 'compaction.end' && record.applied))
    await runtime.detach('a')
    assert.is((await checkpoints.read('a'))?.seq, lastSeq)
  })

  it('that is short has no checkpoint, and one that was stopped needs none', async (context) => {
    const { store, checkpoints } = watched()
    await work(context, store, 50)
    assert.is(await checkpoints.read('a'), undefined)
    const runtime = await start(context, store)
    const agent = await runtime.spawn(define(), { id: 'b' })
    for (let prompts = 0; prompts < 20; prompts += 1) agent.prompt('go')
    await agent.stop()
    assert.is(await checkpoints.read('b'), undefined)
  })

  it('gets its checkpoint while its agent is loaded and at rest, not in the middle of a run', async (context) => {
    const { store, checkpoints } = watched()
    const inRun: (Checkpoint | undefined)[] = []
    const runtime = await start(context, store)
    const look = define({
      model: policyModel(async ({ messages }) => {
        await quiet()
        inRun.push(await checkpoints.read('a'))
        return `answer ${messages.length}`
      }),
    })
    const agent = await runtime.spawn(look, { id: 'a' })
    for (let prompts = 0; prompts < 60; prompts += 1) agent.prompt('go')
    await agent.settled()
    for (let turn = 0; (await checkpoints.read('a')) === undefined && turn < 50; turn += 1) await quiet()
    assert.is(agent.isLoaded, true)
    assert.is((await checkpoints.read('a'))?.seq, agent.lastSeq)
    assert.ok(inRun.every((one) => one === undefined))
  })

  it('in memory has one once its agent is let go of, which it is opened from, and none before', async (context) => {
    const store = { ...memoryStore(), close: async () => {} }
    const runtime = await start(context, store)
    const agent = await runtime.spawn(define(), { id: 'a' })
    while (agent.lastSeq < 600) {
      await agent.prompt('go').result
      await agent.settled()
      await quiet()
      assert.is(await store.checkpoints!.read('a'), undefined)
    }
    const { lastSeq } = agent
    await runtime.detach('a')
    const checkpoint = (await store.checkpoints!.read('a'))!
    const records = await recordsOf(store, 'a')
    assert.is(checkpoint.seq, lastSeq)
    assert.equal(contextIn(checkpoint, records), contextOf(records))
    const requests: ModelRequest[] = []
    await (await runtime.resume('a', define({}, requests))).prompt('and now?').result
    assert.is(requests[0]?.messages.length, records.filter(({ type }) => type === 'reply.end').length * 2 + 1)
  })

  it('has a checkpoint with the context that its log says, redacted as that is, where a call waits', async (context) => {
    const { store, checkpoints } = watched()
    const clock = simulatedClock()
    const runtime = await start(context, store, { clock, redact: { secrets: { PIN: 's3cr3t-s3cr3t' } } })
    const pay = tool('pay', () => 'paid', { needsApproval: true })
    const model = policyModel(({ messages }) =>
      messages.length > 40 ? { toolCalls: [{ name: 'pay', input: { with: 's3cr3t-s3cr3t' } }] } : 'so it is',
    )
    const agent = await runtime.spawn(define({ model, tools: [pay] }), { id: 'a' })
    for (let prompts = 0; prompts < 21; prompts += 1) agent.prompt('go')
    await agent.settled()
    await clock.advance(5_000)
    assert.is(agent.pending().length, 1)
    await runtime.detach('a')
    const checkpoint = (await checkpoints.read('a'))!
    const records = await recordsOf(store, 'a')
    const kept = contextIn(checkpoint, records)
    assert.equal([kept.context.calls[0]?.status, kept.isHeld], ['held', true])
    assert.equal(kept, contextOf(records.slice(0, checkpoint.seq)))
    assert.not.match(Buffer.from(checkpoint.body).toString(), /s3cr3t/)
  })

  it('of an agent that was unloaded is loaded from its checkpoint', async (context) => {
    const { store, reads, checkpoints } = watched()
    const clock = simulatedClock()
    const runtime = await start(context, store, { clock, idleUnloadMs: 10 })
    const agent = await runtime.spawn(define(), { id: 'a' })
    while (agent.lastSeq < 300) await agent.prompt('go').result
    await agent.settled()
    await clock.advance(20)
    for (let turn = 0; agent.isLoaded && turn < 50; turn += 1) await quiet()
    assert.is(agent.isLoaded, false)
    const { lastSeq } = agent
    await agent.prompt('again').result
    assert.equal(reads.at(-1), { from: lastSeq, records: 1 })
    assert.is((await checkpoints.read('a'))?.seq, lastSeq)
  })

  const sealed = (body: Uint8Array, of: string) => ({ body, digest: `${of.split(' ')[0]} ${crc32(body)}` })
  const wrong: Record<string, (checkpoint: Checkpoint) => Partial<Checkpoint>> = {
    'is of another form': () => ({ form: 'agent-0' }),
    'is of a record with other content': () => ({ digest: 'x' }),
    'says that it stands at another record': ({ seq }) => ({ seq: seq - 1 }),
    'is ahead of the log': ({ seq }) => ({ seq: seq + 7 }),
    'is empty': () => ({ body: new Uint8Array(0) }),
    'is cut off': ({ body }) => ({ body: body.slice(0, -10) }),
    'is cut off early': ({ body }) => ({ body: body.slice(0, 100) }),
    'lacks what a summary says': ({ body, digest }) => sealed(withSummary(body), digest),
    'has a letter other than was written': ({ body }) => ({
      body: body.map((byte, at) => (at === body.length - 10 ? byte ^ 1 : byte)),
    }),
    'is no JSON': ({ body }) => ({ body: body.map((byte, at) => (at === 5 ? 0 : byte)) }),
  }
  for (const [what, change] of Object.entries(wrong))
    it(`is read from its beginning where its checkpoint ${what}`, async (context) => {
      const { store, reads, checkpoint, records } = await long(context)
      await put(store, { ...checkpoint, ...change(checkpoint) })
      reads.length = 0
      const { logger, warnings } = lines()
      const runtime = await start(context, store, { logger })
      const agent = await runtime.resume('a', define())
      assert.equal(reads.at(-1), { from: 1, records: records.length })
      assert.is(agent.conversation.trunk().length, records.filter(({ type }) => type === 'reply.end').length * 2)
      const isOfUse = what !== 'is of another form'
      assert.is(warnings.filter((line) => line.includes('checkpoint')).length, isOfUse ? 1 : 0, warnings.join())
    })

  it('is read from its beginning where it took the place of another under the same id', async (context) => {
    const { store, checkpoint } = await long(context)
    await store.delete('a')
    await work(context, store, 320)
    await put(store, checkpoint)
    const runtime = await start(context, store, { clock: simulatedClock() })
    const agent = await runtime.resume('a', define())
    const said = agent.conversation.trunk().length
    assert.is(said, (await recordsOf(store, 'a')).filter(({ type }) => type === 'reply.end').length * 2)
  })

  it('is read from its beginning where the definition counts tokens otherwise, or needs more of it, and not where it gains handoffs', async (context) => {
    const { store, reads, records, checkpoint } = await long(context)
    const counts = { message: () => 7, text: () => 3 }
    const other = defineAgent({ name: 'other', model: policyModel(() => 'x') })
    for (const rest of [
      { tokenCounter: counts },
      { captureTurnRequests: true },
      { memory: { store: emptyMemory(context), agent: true, extract: true } },
      { handoffs: [other] },
    ] as const) {
      await put(store, checkpoint)
      reads.length = 0
      const runtime = await start(context, store)
      await runtime.resume('a', define(rest as Partial<AgentOptions>))
      const isKept = 'handoffs' in rest
      const all = { from: 1, records: records.length }
      assert.equal(reads.at(-1), isKept ? { from: records.length, records: 1 } : all, Object.keys(rest).join())
      await runtime.detach('a')
    }
  })

  it('loses nothing where a checkpoint cannot be written or read', async (context) => {
    const { store, checkpoints } = watched()
    const failing: Store = {
      ...store,
      checkpoints: {
        read: () => Promise.reject(new Error('no such table')),
        write: () => Promise.reject(new Error('disk full')),
      },
    }
    const { logger, warnings } = lines()
    const runtime = await start(context, failing, { logger })
    const agent = await runtime.spawn(define(), { id: 'a' })
    while (agent.lastSeq < 300) await agent.prompt('go').result
    await runtime.detach('a')
    assert.match(warnings.join(), /a checkpoint could not be written: disk full/)
    const again = await runtime.resume('a', define())
    assert.match(warnings.join(), /no such table/)
    assert.is((await again.prompt('on').result).stopReason, 'stop')
    assert.is(await checkpoints.read('a'), undefined)
  })

  it('that another process took has no checkpoint written by the one that lost it', async (context) => {
    const { store } = watched()
    const { logger, warnings } = lines()
    const counts = { writes: 0 }
    const { read, write } = store.checkpoints!
    const counting: Store = {
      ...store,
      checkpoints: {
        read: read.bind(store.checkpoints),
        write: async (...given) => {
          counts.writes += 1
          await write.apply(store.checkpoints, given)
        },
      },
    }
    const [asked, answer] = [gate(), gate()]
    const model = policyModel(async ({ messages }) => {
      if (messages.length === 101) {
        asked.resolve()
        await answer.promise
      }
      return 'so it is'
    })
    const runtime = await start(context, counting, { logger })
    const agent = await runtime.spawn(define({ model }), { id: 'a' })
    for (let prompts = 0; prompts < 60; prompts += 1) agent.prompt('go')
    await asked.promise
    const other = await start(context, store)
    await other.resume('a', define(), { takeOver: true })
    answer.resolve()
    await runtime.close()
    assert.equal([counts.writes, warnings.filter((line) => line.includes('checkpoint'))], [0, []])
  })

  it('is whole when the process dies between its last records and its checkpoint, or while that is written', async (context) => {
    const { store, checkpoint } = await long(context)
    const end = gate()
    const died: Store = {
      ...store,
      checkpoints: {
        ...store.checkpoints!,
        read: (id) => store.checkpoints!.read(id),
        write: () => end.promise,
      },
    }
    const runtime = await start(context, died)
    context.cleanup(() => end.resolve())
    const agent = await runtime.resume('a', define())
    while (agent.lastSeq < 700) await agent.prompt('go').result
    await agent.settled()
    const { lastSeq } = agent
    // It is still being written: another process takes the agent.
    const other = await start(context, store)
    const taken = await other.resume('a', define(), { takeOver: true })
    assert.is(taken.lastSeq, lastSeq)
    assert.is((await store.checkpoints!.read('a'))?.seq, checkpoint.seq)
    assert.is((await taken.prompt('on').result).stopReason, 'stop')
  })
})

/** Goes on with a log for so many records more. */
async function goOn(context: CaseContext, store: Store, records: number): Promise<void> {
  const runtime = await start(context, store)
  const agent = await runtime.resume('a', define())
  const end = agent.lastSeq + records
  while (agent.lastSeq < end) await agent.prompt('more').result
  await runtime.close()
}
