import { recordVersion } from '../../../src/protocol/records.ts'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { defineAgent } from '../../define/src/defineAgent.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { deleteSession } from '../src/deleteSession.ts'
import { forkSession } from '../src/forkSession.ts'
import { listSessions } from '../src/listSessions.ts'
import { fileStore } from '../../stores/src/fileStore.ts'
import { storeContract } from '../../evaluation/src/testing/storeContract.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import type { ErasableStore, Store } from '../../../src/protocol/ports/store.ts'
import { LogBuilder } from '../../../test/conversation/logBuilder.ts'
import { brittleStore } from '../../../test/support/brittleStore.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { born, created, fill, logOf } from './sessionLogs.ts'
import { failsWith, linesOf, storeFolder } from '../../stores/test/storeFolder.ts'

const talk = (agentId: string) => {
  const log = new LogBuilder()
  log.user('go')
  log.reply('gone')
  return born(agentId, log.records)
}

const kinds: { readonly [kind: string]: (context: CaseContext) => Promise<Store> } = {
  memory: async () => memoryStore(),
  files: async (context) => (await storeFolder(context)).store(),
}

for (const [kind, makeStore] of Object.entries(kinds))
  describe(`deleteSession, in ${kind}`, (it) => {
    it('removes one session for good; its id can be used again', async (context) => {
      const store = await makeStore(context)
      await fill(store, { a: talk('a'), b: talk('b') })
      await deleteSession(store, 'a')
      assert.equal([await store.list(), await logOf(store, 'a')], [['b'], []])
      await assert.rejects(deleteSession(store, 'a'), failsWith('AGENT_NOT_FOUND', '"a"'))
      await fill(store, { a: [created('a')] })
      assert.equal(await store.list(), ['a', 'b'])
    })

    it('keeps a session that others were forked from, naming them, until they are gone', async (context) => {
      const store = await makeStore(context)
      await fill(store, { a: talk('a') })
      for (const id of ['f', 'g']) await forkSession(store, 'a', 2, { id })
      await assert.rejects(deleteSession(store, 'a'), failsWith('SESSION_IN_USE', 'f, g are forked from it'))
      await deleteSession(store, 'f')
      await assert.rejects(deleteSession(store, 'a'), failsWith('SESSION_IN_USE', 'g is forked from it'))
      await deleteSession(store, 'g')
      await deleteSession(store, 'a')
      assert.equal(await listSessions(store), [])
    })

    it('refuses a session that runs, and what is no id', async (context) => {
      const store = await makeStore(context)
      const runtime = await createRuntime({ store })
      context.cleanup(() => runtime.close())
      const definition = defineAgent({ name: 'tester', model: scriptedModel(['one']) })
      const agent = await runtime.spawn(definition, { id: 'a' })
      await agent.prompt('first').result
      await assert.rejects(deleteSession(store, 'a'), failsWith('STORE_LOCKED'))
      assert.ok((await logOf(store, 'a')).length > 0)
      await agent.close()
      await deleteSession(store, 'a')
      assert.equal(await store.list(), [])
      await assert.rejects(deleteSession(store, '../a'), failsWith('INVALID_ID'))
    })
  })

describe('deleteSession', (it) => {
  it('says so when the store cannot forget', async () => {
    const store = brittleStore()
    await fill(store, { a: talk('a') })
    await assert.rejects(deleteSession(store, 'a'), failsWith('STORE_DELETE_FAILED', 'no delete()'))
    assert.is((await logOf(store, 'a')).length, 3)
  })

  it('removes a log that cannot be read, and is not hindered by one', async (context) => {
    const { store, write } = await storeFolder(context)
    const lines = linesOf(talk('bad')).split('\n')
    await write('bad.jsonl', `{}\n${lines[1]}\n${lines[2]}\n`)
    await write('newer.jsonl', linesOf([{ ...created('newer'), v: recordVersion + 1 } as never]))
    await write('a.jsonl', linesOf(talk('a')))
    // It may depend on anything: nobody here can tell.
    await assert.rejects(deleteSession(store(), 'a'), failsWith('LOG_VERSION', 'newer'))
    await deleteSession(store(), 'newer')
    await deleteSession(store(), 'a')
    await deleteSession(store(), 'bad')
    assert.equal(await store().list(), [])
  })
})

describe('a file store that deletes', (it) => {
  it('leaves nothing in the folder but what is not the log', async (context) => {
    const { dir, write, file } = await storeFolder(context)
    for (const durability of ['os', 'batch', 'each'] as const) {
      const store = fileStore(dir, { durability })
      await fill(store, { a: talk('a') })
      await writeFile(file('a.jsonl.damaged-1'), 'a copy')
      await write('ab.jsonl', linesOf(talk('ab')))
      await store.delete('a')
      assert.equal((await readdir(dir)).toSorted(), ['a.jsonl.damaged-1', 'ab.jsonl'])
      await store.close()
    }
  })

  it('does nothing where there is no folder, and makes none', async (context) => {
    const { dir } = await storeFolder(context)
    const store = fileStore(`${dir}/none`)
    await store.delete('a')
    await store.close()
    assert.equal(await readdir(dir), [])
  })

  it('tells of what cannot be removed', async (context) => {
    const { dir, file } = await storeFolder(context)
    const store = fileStore(dir)
    context.cleanup(() => store.close())
    await mkdir(file('a.jsonl'))
    await assert.rejects(store.delete('a'), failsWith('STORE_DELETE_FAILED', 'a.jsonl could not be deleted'))
    assert.equal(await readdir(dir), ['a.jsonl'])
  })

  it('lets one of many deletes at once remove it, and close wait for them', async (context) => {
    const { dir } = await storeFolder(context)
    const store = fileStore(dir)
    await fill(store, { a: talk('a'), b: talk('b') })
    const tries = Promise.allSettled([store.delete('a'), store.delete('a'), store.delete('b')])
    await store.close()
    const done = await tries
    assert.is(done[2]?.status, 'fulfilled')
    for (const outcome of done) if (outcome.status === 'rejected') assert.ok(failsWith('STORE_LOCKED')(outcome.reason))
    assert.equal(await readdir(dir), [])
  })
})

describe('the store contract of forgetting', (it) => {
  const failuresOf = async (breakIt: (store: ErasableStore) => Partial<ErasableStore>): Promise<string> => {
    const create = (): Store => {
      const store = memoryStore()
      return { ...store, ...breakIt(store) }
    }
    const failed: string[] = []
    for (const { name, run } of storeContract({ create }))
      await run().catch((thrown: unknown) => failed.push(`${name}: ${String(thrown)}`))
    return failed.join('\n')
  }

  it('asks nothing of a store that has no delete', async () => {
    assert.is(await failuresOf(() => ({ delete: undefined as never })), '')
  })

  it('finds a store that forgets nothing, too much, or what is being written', async () => {
    assert.match(await failuresOf(() => ({ delete: async () => {} })), /delete forgets one log/)
    const all = (store: ErasableStore) => async () => {
      for (const id of await store.list()) await store.delete(id)
    }
    assert.match(await failuresOf((store) => ({ delete: all(store) })), /delete forgets one log/)
    const unlocked = (store: ErasableStore) => (id: string) => store.delete(id).catch(() => {})
    assert.match(await failuresOf((store) => ({ delete: unlocked(store) })), /delete is refused while the log is open/)
  })
})
