import { Pool } from 'pg'
import { recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { RecentBodies } from '../../stores/src/recentBodies.ts'
import { isErasable } from '../../../src/protocol/ports/store.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { describeWithPostgres } from './postgres.ts'

describeWithPostgres('checkpoints of a PostgreSQL store', (it) => {
  it('are sent to a store once, and again when another one has written since', async (context) => {
    const [one, other] = [context.store(), context.store()]
    const kept = (first: number) => ({ seq: 1, form: 'f', digest: 'd', body: Uint8Array.from([first, 2, 255, 0]) })
    const lease = await one.open('a')
    await one.append('a', recordsBetween(1, 1), lease.epoch)
    await one.checkpoints!.write('a', kept(1), lease.epoch)
    const read = await one.checkpoints!.read('a')
    assert.equal(Array.from(read!.body), [1, 2, 255, 0])
    assert.is((await one.checkpoints!.read('a'))?.body, read?.body, 'the same bytes')
    await lease.release()
    const { epoch } = await other.open('a')
    for (const first of [7, 9]) {
      await other.checkpoints!.write('a', kept(first), epoch)
      assert.equal(Array.from((await one.checkpoints!.read('a'))!.body), [first, 2, 255, 0])
    }
    await other.close()
    assert.ok(isErasable(one))
    await one.delete('a')
    assert.is(await one.checkpoints!.read('a'), undefined)
  })
})

describeWithPostgres('a checkpoint that a store has written', (it) => {
  it('is not sent back to it', async ({ url, store, cleanup }) => {
    const pool = new Pool({ connectionString: url, max: 2 })
    cleanup(() => pool.end())
    const sent: unknown[] = []
    const { query } = pool
    pool.query = (async (config: { text: string }) => {
      const result = await (query as (given: unknown) => Promise<{ rows: { body?: unknown }[] }>).call(pool, config)
      if (config.text.includes('checkpoints c')) sent.push(...result.rows.map(({ body }) => body ?? 'nothing'))
      return result
    }) as unknown as typeof query
    const one = store({}, pool)
    const lease = await one.open('a')
    await one.append('a', recordsBetween(1, 1), lease.epoch)
    for (const first of [1, 2]) {
      const body = Uint8Array.from([first, 255])
      await one.checkpoints!.write('a', { seq: 1, form: 'f', digest: 'd', body }, lease.epoch)
      sent.length = 0
      assert.equal(Array.from((await one.checkpoints!.read('a'))!.body), [first, 255])
      assert.equal(sent, ['nothing'])
    }
  })
})

describe('bodies that were read last', (it) => {
  const body = new Uint8Array(8 * 1_024 * 1_024)

  it('are let go of when they are too many, first those that were asked for longest ago', () => {
    const recent = new RecentBodies()
    for (const id of ['a', 'b', 'c', 'd']) recent.keep(id, { version: '1', body })
    assert.is(recent.find('a')?.version, '1')
    recent.keep('e', { version: '1', body })
    assert.equal(
      ['a', 'b', 'c', 'd', 'e'].map((id) => recent.find(id) !== undefined),
      [true, false, true, true, true],
    )
  })

  it('take the place of those before them, and one that is too large is not kept', () => {
    const recent = new RecentBodies()
    for (let version = 0; version < 9; version += 1) recent.keep('a', { version: `${version}`, body })
    recent.keep('b', { version: '1', body })
    assert.is(recent.find('a')?.version, '8')
    recent.drop('a')
    assert.is(recent.find('a'), undefined)
    recent.keep('c', { version: '1', body: new Uint8Array(33 * 1_024 * 1_024) })
    assert.is(recent.find('c'), undefined)
  })
})
