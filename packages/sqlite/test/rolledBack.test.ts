import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { failsWith } from '../../stores/test/storeFolder.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { readAll, recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { sqliteStore } from '../src/sqliteStore.ts'

describe('appends that share a transaction', (it) => {
  for (const failing of ['a', 'b', 'c'])
    it(`are all refused where it is rolled back, and stored when they come again: at the log of ${failing}`, async (context) => {
      const dir = await mkdtemp(join(tmpdir(), 'escapement-sqlite-'))
      context.cleanup(() => rm(dir, { recursive: true, force: true }))
      const file = join(dir, 'agents.db')
      const store = sqliteStore(file, { durability: 'batch' })
      context.cleanup(() => store.close())
      const database = new DatabaseSync(file)
      context.cleanup(() => database.close())
      const ids = ['a', 'b', 'c']
      for (const id of ids) await store.open(id)
      // As where the disk is full.
      database.exec(`CREATE TRIGGER full BEFORE INSERT ON records
        WHEN NEW.agent = (SELECT number FROM agents WHERE id = '${failing}') BEGIN SELECT RAISE(ABORT, 'full'); END`)
      const appended = await Promise.allSettled(ids.map((id) => store.append(id, recordsBetween(1, 2))))
      for (const [at, id] of ids.entries()) {
        const isStored = (await readAll(store, id)).length === 2
        assert.is(appended[at]!.status === 'fulfilled', isStored, `what is said of the log of ${id}`)
      }
      await assert.rejects(store.append(failing, recordsBetween(1, 2)), failsWith('STORE_APPEND_FAILED', 'full'))
      database.exec('DROP TRIGGER full')
      await Promise.all(ids.map((id) => store.append(id, recordsBetween(1, 2))))
      for (const id of ids) assert.is((await readAll(store, id)).length, 2)
    })
})
