import { assert } from '../../../test/support/suite.ts'
import { describeWithPostgres } from './postgres.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const textIn = (kept: Uint8Array | undefined): string | undefined => kept && new TextDecoder().decode(kept)

describeWithPostgres('snapshots in a PostgreSQL store', (it) => {
  it('come back byte for byte, each agent has its own, also to another process', async ({ store }) => {
    const one = store()
    await one.open('a')
    await one.open('b')
    const all = Uint8Array.from({ length: 256 }, (_, index) => index)
    const [id, again, empty] = [
      await one.snapshots!.put('a', all),
      await one.snapshots!.put('a', all),
      await one.snapshots!.put('a', bytes('')),
    ]
    assert.is(id, again)
    const { snapshots } = store()
    assert.equal([...(await snapshots!.get('a', id))!], [...all])
    assert.is((await snapshots!.get('a', empty))?.length, 0)
    assert.is(await snapshots!.get('b', id), undefined)
    assert.is(await snapshots!.get('a', '../a'), undefined)
  })

  it('go, the one used longest ago first, also after a restart', async ({ store }) => {
    const first = store({ snapshots: { maxCount: 2 } })
    const lease = await first.open('a')
    const [one, two] = [await first.snapshots!.put('a', bytes('111')), await first.snapshots!.put('a', bytes('222'))]
    await first.snapshots!.put('a', bytes('111'))
    await lease.release()
    const second = store({ snapshots: { maxCount: 2 } })
    await second.open('a')
    const three = await second.snapshots!.put('a', bytes('333'))
    const left = await Promise.all([one, two, three].map((id) => second.snapshots!.get('a', id)))
    assert.equal(left.map(textIn), ['111', undefined, '333'])
  })

  it('are refused when they are too large, or of no agent', async ({ store }) => {
    const one = store({ snapshots: { maxFileBytes: 3 } })
    await one.open('a')
    await assert.rejects(one.snapshots!.put('a', bytes('four')), /4 bytes are more than is kept of a file \(3\)/)
    await assert.rejects(one.snapshots!.put('nobody', bytes('one')), /agent "nobody" has no log/)
  })

  it('are not given back when they were damaged, and are deleted with the log', async ({ store, sql, schema }) => {
    const one = store()
    const lease = await one.open('a')
    const id = await one.snapshots!.put('a', bytes('one'))
    await sql(`UPDATE ${schema}.contents SET bytes = 'oNe'`)
    assert.is(await one.snapshots!.get('a', id), undefined)
    await lease.release()
    await one.delete('a')
    assert.equal(await sql(`SELECT FROM ${schema}.contents`), [])
  })
})
