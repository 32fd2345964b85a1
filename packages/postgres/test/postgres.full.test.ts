import { assert } from '../../../test/support/suite.ts'
import { describeWithPostgres } from './postgres.ts'

describeWithPostgres('a database for tests', (it) => {
  it('answers', async ({ sql }) => {
    assert.equal(await sql('SELECT 1 + 1 AS sum'), [{ sum: 2 }])
  })

  it('has what was committed after a crash and a new start', async ({ server, sql }) => {
    await sql('CREATE TABLE kept (value int); INSERT INTO kept VALUES (7)')
    await server.end('crashed')
    await assert.rejects(
      () => sql('SELECT 1'),
      () => true,
    )
    await server.begin()
    assert.equal(await sql('SELECT value FROM kept'), [{ value: 7 }])
  })
})
