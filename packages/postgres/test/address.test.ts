import { createServer, type AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { Client } from 'pg'
import { withoutPassword } from '../src/address.ts'
import { postgresStore } from '../src/postgresStore.ts'
import { readAll } from '../../evaluation/src/testing/contractDemands.ts'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { failsWith } from '../../stores/test/storeFolder.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const secret = 'hunter2/$'

describe('what a PostgreSQL store is given', (it) => {
  it('may be without a password, which then is that of the environment, and in no text either', ({ cleanup }) => {
    const before = process.env['PGPASSWORD']
    cleanup(() => {
      if (before === undefined) delete process.env['PGPASSWORD']
      else process.env['PGPASSWORD'] = before
    })
    const odd = 'p@s/:%?#$ w'
    process.env['PGPASSWORD'] = odd
    assert.is(new Client({ connectionString: 'postgres://agents@database/agents' }).password, odd)
    assert.is(withoutPassword('postgres://agents@database/agents')(`with ${odd}`), 'with ***')
    assert.is(
      withoutPassword('postgres://agents:other@database/agents')(`with ${odd} and other`),
      `with ${odd} and ***`,
    )
  })

  it('is an address or a pool, or refused with what is wrong and nothing of a password', () => {
    const wrong: readonly (readonly [given: unknown, says: string])[] = [
      [undefined, 'not undefined'],
      [null, 'not null'],
      [5432, 'not number'],
      [{ host: 'localhost' }, 'not object'],
      ['', 'not a blank text'],
      ['  ', 'not a blank text'],
      [secret, 'this text is no URL'],
      [`mysql://user:hunter2@host/db`, 'this URL is of something else'],
      [`https:${secret}`, 'this URL is of something else'],
      [`postgres://user:12/${secret}@host/db`, 'something is not encoded'],
      [`postgres://user:hunter2#x@host/db`, 'this text is no URL'],
      [`postgres://user:12#${secret}`, 'something is not encoded'],
    ]
    for (const [given, says] of wrong) {
      const thrown = assert.throws(() => postgresStore(given as string), withCode('INVALID_OPTION', says))
      assert.not.match(inspect(thrown, { depth: 9, showHidden: true }).split('\n    at ')[0]!, 'hunter2')
    }
  })

  it('has options that are checked', () => {
    for (const options of [
      { schema: 'Agents' },
      { schema: 'a"b' },
      { schema: 'pg_agents' },
      { leaseMs: 99 },
      { connections: 0 },
      { queryTimeoutMs: -1 },
      { retryMs: Number.NaN },
      { snapshots: { maxBytes: 0 } },
      { url: 'x' },
    ])
      assert.throws(
        () => postgresStore('postgres://localhost/a', options),
        withCode('INVALID_OPTION', Object.keys(options)[0]!),
      )
  })

  it('may be the address of nobody, which is said at once, without the password', { timeoutMs: 10_000 }, async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    const store = postgresStore(`postgres://user:${encodeURIComponent(secret)}@127.0.0.1:${port}/agents`, {
      clock: simulatedClock(),
    })
    const where = `PostgreSQL database "agents" on 127.0.0.1:${port}, schema "escapement"`
    const thrown = await assert.rejects(() => store.open('a'), failsWith('STORE_OPEN_FAILED', where, 'ECONNREFUSED'))
    assert.not.match(inspect(thrown, { depth: 9, showHidden: true }), /hunter2/)
    await assert.rejects(() => readAll(store, 'a'), failsWith('STORE_READ_FAILED', where))
    await store.close()
  })
})
