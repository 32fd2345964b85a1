import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import type { Checkpoint } from '../../src/protocol/ports/checkpoints.ts'
import type { Logger } from '../../src/protocol/ports/logger.ts'
import type { ErasableStore } from '../../src/protocol/ports/store.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const definition = defineAgent({
  name: 'a',
  model: policyModel(({ messages }) => `${messages.length}: ${'many words '.repeat(300)}`),
})

/** A store that outlives its runtimes and may have no place for what is shared, with all checkpoints that were written, and the reads of the log. */
function watched(keepsShared = true) {
  const inner = memoryStore()
  const written: Checkpoint[] = []
  const reads: number[] = []
  const store: ErasableStore = {
    ...inner,
    checkpoints: {
      ...(keepsShared ? { keepsShared } : {}),
      read: (id) => inner.checkpoints!.read(id),
      write: async (id, checkpoint, epoch) => {
        await inner.checkpoints!.write(id, checkpoint, epoch)
        written.push(checkpoint)
      },
    },
    read(agentId, from = 1, limit) {
      reads.push(from)
      return inner.read(agentId, from, limit)
    },
    close: async () => {},
  }
  return { store, written, reads }
}

const nothing = (): void => {}

const changedAtEnd = ({ id, body }: NonNullable<Checkpoint['shared']>): Checkpoint['shared'] => ({
  id,
  body: body.map((byte, at) => (at === body.length - 10 ? byte ^ 1 : byte)),
})

const has = (body: Uint8Array, text: string): boolean => Buffer.from(body).includes(text)

/** A logger that keeps its warnings. */
const loggerOf = (warnings: string[]): Logger => ({
  debug: nothing,
  info: nothing,
  error: nothing,
  warn: (_, message) => void warnings.push(message),
})

/** A life of the agent in a runtime of its own, with so many prompts; returns all that was said, and the last record. */
async function live({ cleanup }: CaseContext, store: ErasableStore, prompts: number, warnings: string[] = []) {
  const runtime = await createRuntime({ store, logger: loggerOf(warnings) })
  cleanup(() => runtime.close().catch(() => {}))
  const isNew = (await store.stat?.('a')) === undefined
  const agent = isNew ? await runtime.spawn(definition, { id: 'a' }) : await runtime.open('a', definition)
  for (let times = 0; times < prompts; times += 1) await agent.prompt(`prompt ${agent.lastSeq}`).result
  const said = agent.conversation.trunk().map(({ message }) => JSON.stringify(message))
  const { lastSeq } = agent
  await runtime.close()
  return { said, lastSeq }
}

describe('checkpoints of an agent that is opened again and again', (it) => {
  it('share what is old, so that each of them is small, until much has come', async (context) => {
    const { store, written } = watched()
    await live(context, store, 60)
    const first = written.at(-1)!
    assert.ok(first.shared!.body.length > 64 * 1_024)
    assert.ok(first.body.length < 4_000)
    const asked: string[] = []
    for await (const record of store.read('a', 1, 10)) if (record.type === 'run.start') asked.push(record.requestId)
    assert.ok(has(first.shared!.body, asked[0]!), 'the ids so far, too')
    let { lastSeq } = await live(context, store, 1)
    assert.is(written.at(-1), first, 'little has come')
    for (const prompts of [8, 14]) {
      ;({ lastSeq } = await live(context, store, prompts))
      const last = written.at(-1)!
      assert.equal([last.seq, last.shared?.id], [lastSeq, first.shared!.id])
      assert.ok(last.body.length < first.shared!.body.length / 2)
      assert.ok(!has(last.body, asked[0]!))
    }
    while (written.at(-1)!.shared!.id === first.shared!.id) await live(context, store, 30)
    const next = written.at(-1)!
    assert.ok(next.shared!.body.length > first.shared!.body.length)
    assert.ok(next.body.length < 4_000)
    // The log alone says the same.
    const opened = await live(context, store, 0)
    const { checkpoints: _, ...log } = store
    assert.equal(await live(context, log, 0), opened)
  })

  it('are opened as the log says, also when what they share is missing, is of another or was written by a version that shares nothing', async (context) => {
    for (const change of [
      ({ shared: _, ...rest }: Checkpoint): Checkpoint => rest,
      (checkpoint: Checkpoint): Checkpoint => ({ ...checkpoint, shared: { ...checkpoint.shared!, id: 'another' } }),
      (checkpoint: Checkpoint): Checkpoint => ({ ...checkpoint, shared: changedAtEnd(checkpoint.shared!) }),
    ]) {
      const { store, written, reads } = watched()
      await live(context, store, 60)
      const { said, lastSeq } = await live(context, store, 8)
      assert.is(written.at(-1)!.seq, lastSeq)
      reads.length = 0
      assert.equal((await live(context, store, 0)).said, said)
      assert.equal(reads, [lastSeq])
      const warnings: string[] = []
      const lease = await store.open('a')
      await store.checkpoints!.write('a', change(written.at(-1)!))
      await lease.release()
      reads.length = 0
      assert.equal((await live(context, store, 0, warnings)).said, said)
      assert.ok(reads.includes(1), 'the whole log')
      assert.match(warnings.join(), /what it shares is (missing|damaged)/)
    }
  })

  it('are whole where the store keeps nothing apart, and are gone on from by a store that does', async (context) => {
    const old = watched(false)
    const { said, lastSeq } = await live(context, old.store, 60)
    const last = old.written.at(-1)!
    assert.equal([last.seq, last.shared], [lastSeq, undefined])
    const reads: number[] = []
    const store: ErasableStore = {
      ...old.store,
      checkpoints: { ...old.store.checkpoints!, keepsShared: true },
      read: (agentId, from = 1, limit) => (reads.push(from), old.store.read(agentId, from, limit)),
    }
    assert.equal((await live(context, store, 0)).said, said)
    assert.equal(reads, [lastSeq])
    await live(context, store, 50)
    assert.ok(old.written.at(-1)!.shared !== undefined)
  })
})
