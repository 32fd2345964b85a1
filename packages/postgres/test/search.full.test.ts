import { recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { assert } from '../../../test/support/suite.ts'
import { describeWithPostgres } from './postgres.ts'

describeWithPostgres('search in a PostgreSQL store', (it) => {
  it('has its words noted behind the appends, of many agents and long logs', async ({ store, sql, schema }) => {
    const clock = simulatedClock()
    const one = store({ clock })
    const ids = Array.from({ length: 60 }, (_, index) => `a${index}`)
    await Promise.all(ids.map((id) => one.open(id)))
    await Promise.all(ids.map((id) => one.append(id, recordsBetween(1, id === 'a0' ? 130 : 2))))
    assert.equal(await sql(`SELECT FROM ${schema}.texts`), [])
    const count = async (): Promise<unknown> =>
      (await sql(`SELECT count(*)::int AS count FROM ${schema}.texts`))[0]?.['count']
    while ((await count()) !== 59 + 43) await clock.advance(1_000)
    const rows = await sql(`SELECT seq FROM ${schema}.noted ORDER BY seq DESC LIMIT 2`)
    assert.equal(
      rows.map(({ seq }) => seq),
      [130, 2],
    )
  })

  it('is not there where it is not wanted, and costs nothing then', async ({ store, sql, schema }) => {
    const clock = simulatedClock()
    const one = store({ clock, search: false })
    await one.open('a')
    await one.append('a', recordsBetween(1, 9))
    const before = clock.pending
    await clock.advance(2_000)
    assert.is(one.search, undefined)
    assert.is(clock.pending, before)
    assert.equal(await sql(`SELECT FROM ${schema}.texts`), [])
    // Another process that wants it finds what was written meanwhile.
    const other = store()
    assert.is((await other.search!({ text: 'quotes' })).length, 3)
    assert.is((await other.search!({ text: 'quotes', limit: 2 })).length, 2)
  })

  it('answers although a log has lost its records, and finds nothing of a log that was deleted', async (context) => {
    const { store, sql, schema } = context
    const one = store({ search: false })
    for (const id of ['a', 'b']) {
      const lease = await one.open(id)
      await one.append(id, recordsBetween(1, 3))
      await lease.release()
    }
    await sql(`DELETE FROM ${schema}.records WHERE agent = (SELECT number FROM ${schema}.agents WHERE id = 'a')`)
    const other = store()
    assert.equal(
      (await other.search!({ text: 'quotes' })).map(({ agentId }) => agentId),
      ['b'],
    )
    await other.delete('b')
    assert.equal(await other.search!({ text: 'quotes' }), [])
    assert.equal(await sql(`SELECT FROM ${schema}.texts`), [])
  })
})
