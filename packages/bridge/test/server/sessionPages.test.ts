import { mkdtemp, rm } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { recordVersion } from '../../../../src/protocol/records.ts'
import { listSessions } from '../../../sessions/src/listSessions.ts'
import { sqliteStore } from '../../../sqlite/src/sqliteStore.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { serveAgents } from './bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })

/** A store that tells which logs were read since the last time. */
function reading(inner: Store): { readonly store: Store; taken(): string[] } {
  const read = new Set<string>()
  const store: Store = {
    append: (agentId, records, epoch) => inner.append(agentId, records, epoch),
    list: () => Promise.reject(new Error('Nobody lists everything.')),
    stat: (agentId) => inner.stat!(agentId),
    page: (query) => inner.page!(query),
    open: (agentId, options) => inner.open(agentId, options),
    close: () => inner.close(),
    read(agentId, fromSeq, limit) {
      read.add(agentId)
      return inner.read(agentId, fromSeq, limit)
    },
  }
  return {
    store,
    taken() {
      const ids = [...read].toSorted()
      read.clear()
      return ids
    },
  }
}

/** A file with so many logs of a record each, named by five digits, every tenth of user `u1`, every hundredth below another. */
async function manyLogs({ cleanup }: Pick<CaseContext, 'cleanup'>, count: number): Promise<Store> {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-pages-'))
  cleanup(() => rm(dir, { recursive: true, force: true }))
  const file = join(dir, 'agents.db')
  const empty = sqliteStore(file)
  await (await empty.open('x')).release()
  await empty.close()
  const database = new DatabaseSync(file)
  database.exec('BEGIN; DELETE FROM agents')
  const agent = database.prepare(
    'INSERT INTO agents (number, id, last_seq, written_at, created_at, definition, path, metadata) VALUES (?, ?, 1, ?, ?, ?, ?, ?)',
  )
  const label = database.prepare('INSERT INTO labels (name, value, agent) VALUES (?, ?, ?)')
  const record = database.prepare('INSERT INTO records (agent, seq, body) VALUES (?, 1, ?)')
  for (let n = 1; n <= count; n += 1) {
    const agentId = idOf(n)
    const path = n % 100 === 1 ? ['00000'] : []
    const metadata = { user: n % 10 === 1 ? 'u1' : 'u2' }
    const created: LogRecord = {
      v: recordVersion,
      seq: 1,
      time: n,
      type: 'agent.created',
      agentId,
      path,
      definition: 'echo',
      model: 'm',
      machine: 'm',
      metadata,
    }
    agent.run(n, agentId, n, n, 'echo', JSON.stringify(path), JSON.stringify(metadata))
    label.run('user', JSON.stringify(metadata.user), n)
    for (const above of path) label.run(':above', above, n)
    record.run(n, JSON.stringify(created))
  }
  database.exec('COMMIT')
  database.close()
  const store = sqliteStore(file)
  cleanup(() => store.close())
  return store
}

const idOf = (n: number): string => String(n).padStart(5, '0')

const count = 20_000

describe('the sessions of a store with very many logs', (it) => {
  it('are listed page by page, and no log is read but those of the page', { timeoutMs: 20_000 }, async (context) => {
    const { store, taken } = reading(await manyLogs(context, count))
    const tokens = {
      'a-token-for-everything': 'observe',
      'a-token-for-one-user': { role: 'observe', metadata: { user: 'u1' } },
      'a-token-for-one-agent': { role: 'observe', agents: ['00000'] },
      'a-token-by-a-function': { role: 'observe', agents: ({ id }: { readonly id: string }) => id.endsWith('7') },
    } as const
    const serving = await serveAgents(context, [echo], { tokens, runtime: { store } })
    const page = async (token: keyof typeof tokens, asked: object): Promise<[ids: string[], total: number]> => {
      const { sessions, total } = await serving.connect({ token }).sessions({ limit: 3, ...asked })
      const ids = sessions.map(({ agentId }) => agentId)
      assert.equal(
        taken().filter((id) => !ids.includes(id)),
        [],
        'only the logs of the page may be read',
      )
      return [ids, total]
    }
    assert.equal(await page('a-token-for-everything', {}), [['20000', '19999', '19998'], count])
    assert.equal(await page('a-token-for-everything', { after: '19998' }), [['19997', '19996', '19995'], count])
    assert.equal(await page('a-token-for-everything', { after: '00001' }), [[], count])
    const ofUser = await page('a-token-for-everything', { metadata: { user: 'u1' }, after: '19991' })
    assert.equal(ofUser, [['19981', '19971', '19961'], count / 10])
    assert.equal(await page('a-token-for-one-user', {}), [['19991', '19981', '19971'], count / 10])
    assert.equal(await page('a-token-for-one-user', { metadata: { user: 'u2' } }), [[], 0])
    assert.equal(await page('a-token-for-one-agent', {}), [['19901', '19801', '19701'], count / 100])
    assert.equal(await page('a-token-by-a-function', {}), [['19997', '19987', '19977'], count / 10])
    assert.equal(await page('a-token-by-a-function', { after: '19977' }), [['19967', '19957', '19947'], count / 10])
    await assert.rejects(page('a-token-for-one-user', { after: '20000' }), /none of them/)
    assert.equal(taken(), [])
  })

  it('are listed as far as they are wanted', async (context) => {
    const { store, taken } = reading(await manyLogs(context, 500))
    const idsOf = async (options: Parameters<typeof listSessions>[1]): Promise<string[]> =>
      (await listSessions(store, options)).map(({ id }) => id)
    assert.equal(await idsOf({ limit: 2 }), ['00500', '00499'])
    assert.equal(taken(), ['00499', '00500'])
    assert.equal(await idsOf({ limit: 2, metadata: { user: 'u1' } }), ['00491', '00481'])
    assert.equal(taken(), ['00481', '00491'])
    assert.equal(await idsOf({ limit: 0 }), [])
    assert.is((await idsOf({ metadata: { user: 'u1' } })).length, 50)
    assert.is(taken().length, 50)
    for (const limit of [-1, 1.5, Number.NaN]) await assert.rejects(listSessions(store, { limit }), /limit/)
  })
})

describe('sessions that run and sessions that rest', (it) => {
  it('are told apart, also in how many there are', async (context) => {
    const serving = await serveAgents(context, [echo], { runtime: { store: memoryStore() } })
    const { runtime } = serving
    for (const id of ['a', 'b', 'c', 'd']) {
      await (await runtime.spawn(echo, { id })).prompt('x').result
      if (id === 'b' || id === 'd') await runtime.agent(id)!.close()
    }
    const page = async (asked: object): Promise<[ids: string[], total: number]> => {
      const { sessions, total } = await serving.connect().sessions(asked)
      return [sessions.map(({ agentId }) => agentId).toSorted(), total]
    }
    assert.equal(await page({}), [['a', 'b', 'c', 'd'], 4])
    assert.equal(await page({ running: true }), [['a', 'c'], 2])
    assert.equal(await page({ running: false }), [['b', 'd'], 2])
    assert.is((await page({ running: false, limit: 1 }))[1], 2)
  })
})
