import { Pool } from 'pg'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { readAll, recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { failsWith } from '../../stores/test/storeFolder.ts'
import { assert } from '../../../test/support/suite.ts'
import { describeWithPostgres } from './postgres.ts'

const textRecord = (seq: number, text: string): LogRecord => ({
  v: 3,
  seq,
  time: 1,
  runId: 'run',
  turnIndex: 0,
  type: 'message.added',
  nodeId: seq,
  parentId: null,
  message: { role: 'user', source: 'prompt', content: [{ type: 'text', text }] },
})

/** The first record of an agent with names that a database does not take as they are. */
const oddBirth: LogRecord = {
  v: 3,
  seq: 1,
  time: 1.5,
  type: 'agent.created',
  agentId: 'a',
  path: ['root\u0000', '\ud800'],
  definition: 'a\u0000b\udc00',
  model: 'm',
  machine: 'agent@1',
  metadata: { user: '\u0000 \udfff', quoted: '{"a",\\b}' },
}

describeWithPostgres('records in a PostgreSQL store', (it) => {
  it('may hold any text that JSON can, line breaks, null characters and halves of characters among it', async ({
    store,
  }) => {
    const odd = ['\u0000', '\ud800', '\udc00\ud800', 'a\nb\r\n\u2028', '\\n', '\\u0000', `'"{},`, '🙂', '$1 %s', '']
    const records = [oddBirth, ...odd.map((text, index) => textRecord(index + 2, text))]
    const one = store()
    const lease = await one.open('a')
    await one.append('a', records)
    await lease.release()
    assert.equal(await readAll(store(), 'a'), records)
    assert.is((await one.page!({ metadata: { user: '\u0000 \udfff' } })).logs[0]?.id, 'a')
    assert.is((await one.page!({ definition: 'a\u0000b\udc00' })).logs[0]?.id, 'a')
  })

  it('are read in pages, each once, from anywhere and as many as wanted', async ({ store }) => {
    const one = store()
    await one.open('a')
    const all = recordsBetween(1, 3_000)
    for (let at = 0; at < all.length; at += 500) await one.append('a', all.slice(at, at + 500))
    assert.equal(await readAll(one, 'a'), all)
    assert.equal(await readAll(one, 'a', 1_030), all.slice(1_029))
    assert.equal(await readAll(one, 'a', 5, 1_040), all.slice(4, 1_044))
    assert.equal(await readAll(one, 'a', 2 ** 40), [])
  })

  it('of many logs are read by few statements when they are asked for at once, each reader getting its own', async ({
    url,
    store,
    cleanup,
  }) => {
    const writer = store()
    const lengths = Array.from({ length: 40 }, (_, index) => index % 12)
    for (const [index, length] of lengths.entries()) {
      const lease = await writer.open(`a${index}`)
      if (length > 0) await writer.append(`a${index}`, recordsBetween(1, length))
      await lease.release()
    }
    const pool = new Pool({ connectionString: url, max: 2 })
    cleanup(() => pool.end())
    const statements: string[] = []
    const { query } = pool
    pool.query = ((config: { text: string }) => {
      if (/FROM .*records /.test(config.text)) statements.push(config.text)
      return (query as (given: unknown) => unknown).call(pool, config)
    }) as typeof query
    const reader = store({}, pool)
    assert.equal(await readAll(reader, 'nobody'), [])
    statements.length = 0
    const read = await Promise.all([
      ...lengths.map((_, index) => readAll(reader, `a${index}`, (index % 3) + 1, 1)),
      readAll(reader, 'nobody', 1, 1),
    ])
    assert.equal(read, [
      ...lengths.map((length, index) => recordsBetween(1, length).slice(index % 3, (index % 3) + 1)),
      [],
    ])
    assert.ok(statements.length <= 2, `${statements.length} statements`)
  })

  it('may be large', async ({ store }) => {
    const records = [textRecord(1, `漢"\\`.repeat(1_500_000)), textRecord(2, 'x'.repeat(3_000_000)), textRecord(3, 'y')]
    const one = store()
    await one.open('a')
    await Promise.all(records.map((record) => one.append('a', [record])))
    assert.equal(await readAll(one, 'a'), records)
  })

  it('that are missing are never passed over', async ({ store, sql, schema }) => {
    const one = store()
    await one.open('a')
    await one.append('a', recordsBetween(1, 30))
    for (const [removed, missing] of [
      ['seq = 30', 30],
      ['seq BETWEEN 20 AND 22', 20],
      ['seq = 1', 1],
      ['true', 1],
    ] as const) {
      await sql(`DELETE FROM ${schema}.records WHERE ${removed}`)
      await assert.rejects(
        () => readAll(one, 'a'),
        failsWith('LOG_CORRUPT', `record ${missing} of agent "a" is missing`),
      )
    }
    assert.equal(await readAll(one, 'a', 31), [])
  })

  it('that are damaged, or of a newer version, are refused with their place', async ({ store, sql, schema }) => {
    const one = store()
    await one.open('a')
    await one.append('a', recordsBetween(1, 4))
    await sql(`UPDATE ${schema}.records SET body = replace(body, '"v":3', '"v":99') WHERE seq = 4`)
    await assert.rejects(() => readAll(one, 'a'), failsWith('LOG_VERSION', 'Line 4', 'agent "a"'))
    await sql(`UPDATE ${schema}.records SET body = left(body, 20) WHERE seq = 2`)
    await assert.rejects(() => readAll(one, 'a'), failsWith('LOG_CORRUPT', 'Line 2', 'it is not JSON'))
    assert.equal(await readAll(one, 'a', 3, 1), recordsBetween(3, 3))
  })

  it('of a log that is deleted while it is read end there, also when it is begun anew', async ({ store }) => {
    const one = store()
    const lease = await one.open('a')
    await one.append('a', recordsBetween(1, 40))
    await lease.release()
    const seqs: number[] = []
    for await (const { seq } of one.read('a')) {
      seqs.push(seq)
      if (seq !== 2) continue
      await one.delete('a')
      await one.open('a')
      await one.append('a', recordsBetween(1, 40))
    }
    assert.equal(seqs, [1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('say by the epoch beside each which writer wrote them', async ({ store, sql, schema }) => {
    const [one, other] = [store(), store()]
    const first = await one.open('a')
    await one.append('a', recordsBetween(1, 2))
    const second = await other.open('a', { takeOver: true })
    await other.append('a', recordsBetween(3, 3))
    const rows = await sql(`SELECT epoch::int FROM ${schema}.records ORDER BY seq`)
    assert.equal(
      rows.map(({ epoch }) => epoch),
      [first.epoch, first.epoch, second.epoch],
    )
  })

  it('of many agents share a statement, and so a commit', async (context) => {
    const pool = new Pool({ connectionString: context.url })
    context.cleanup(() => pool.end())
    let statements = 0
    const place = {
      query: (query: { readonly text: string }) => {
        statements += Number(query.text.includes('moved'))
        return pool.query(query as never)
      },
      connect: () => pool.connect(),
      on: pool.on.bind(pool),
      off: pool.off.bind(pool),
    }
    const store = context.store({}, place)
    const ids = Array.from({ length: 200 }, (_, index) => `a${index}`)
    await Promise.all(ids.map((id) => store.open(id)))
    await Promise.all(ids.map((id) => store.append(id, recordsBetween(1, 2))))
    assert.is(statements, 1)
    await Promise.all(ids.flatMap((id) => [3, 4, 5].map((seq) => store.append(id, recordsBetween(seq, seq)))))
    assert.is(statements, 2)
    assert.equal(await readAll(store, 'a77'), recordsBetween(1, 5))
  })
})
