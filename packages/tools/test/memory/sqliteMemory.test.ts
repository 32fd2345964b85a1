import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { whenFree } from '../../../sqlite/src/database.ts'
import { sqliteMemory } from '../../src/memory/sqliteMemory.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { fact, memoryFolder } from './memoryFolder.ts'

async function openFile(context: CaseContext) {
  const path = join(await memoryFolder(context), 'below', 'memory.db')
  const memory = sqliteMemory(path)
  context.cleanup(() => memory.close())
  return { path, memory }
}

describe('sqlite memory', (it) => {
  it('refuses a file of something else, and leaves it as it is', async (context) => {
    const dir = await memoryFolder(context)
    const text = join(dir, 'notes.txt')
    await writeFile(text, 'Not a database, but some notes that are long enough to be taken for one.')
    assert.throws(() => sqliteMemory(text), withCode('MEMORY_FAILED', text))
    assert.match(await readFile(text, 'utf8'), /^Not a database/)
    const other = join(dir, 'other.db')
    const database = new DatabaseSync(other)
    database.exec('CREATE TABLE mine (a)')
    database.close()
    assert.throws(() => sqliteMemory(other), withCode('MEMORY_FAILED', 'the database of something else'))
    assert.throws(() => sqliteMemory(dir), withCode('MEMORY_FAILED', dir))
    assert.throws(() => sqliteMemory(''), withCode('INVALID_OPTION', 'give a file'))
  })

  it('waits for a process that makes the file ready', () => {
    const busy = Object.assign(new Error('database is locked'), { errcode: 261 })
    let asked = 0
    const free = whenFree(() => {
      asked += 1
      if (asked < 3) throw busy
      return 'free'
    }, 60_000)
    assert.equal([free, asked], ['free', 3])
    assert.throws(
      () =>
        whenFree(() => {
          throw busy
        }, 0),
      /locked/,
    )
    assert.throws(
      () =>
        whenFree(() => {
          throw new Error('no such table')
        }, 60_000),
      /no such table/,
    )
  })

  it('refuses a file of a newer version', async (context) => {
    const { path, memory } = await openFile(context)
    memory.close()
    const database = new DatabaseSync(path)
    database.exec('PRAGMA user_version = 7')
    database.close()
    assert.throws(() => sqliteMemory(path), withCode('MEMORY_FAILED', 'it has version 7, not 1'))
  })

  it('tells of rows that are damaged, gives nothing of them and does not write over them', async (context) => {
    const { path, memory } = await openFile(context)
    await memory.put(fact('m1', 'Likes tea.'))
    await memory.put(fact('m2', 'Likes tea, too.'))
    const database = new DatabaseSync(path)
    database.exec(`UPDATE memories SET record = '{"oh' WHERE id = 'm1'`)
    database.close()
    assert.equal(
      (await memory.search('tea')).map(({ id }) => id),
      ['m2'],
    )
    assert.equal(
      (await memory.problems!()).map(({ problem }) => problem),
      ['it is not JSON'],
    )
    await assert.rejects(memory.put(fact('m1', 'Likes rum.')), withCode('MEMORY_FAILED', 'm1'))
    assert.is(await memory.delete({ scope: 'user:42', id: 'm1' }), 1)
    assert.equal(await memory.problems!(), [])
  })

  it('says that it is closed, and closes twice', async (context) => {
    const { memory } = await openFile(context)
    memory.close()
    memory.close()
    await assert.rejects(memory.list(), withCode('MEMORY_FAILED', 'not open'))
  })

  it('has nothing of what was deleted in its files', async (context) => {
    const { path, memory } = await openFile(context)
    await memory.put(fact('m1', 'The code word is xylophone.'))
    await memory.put(fact('m2', 'Likes tea.'))
    await memory.delete({ scope: 'user:42', id: 'm1' })
    for (const file of [path, `${path}-wal`])
      assert.not.match((await readFile(file, 'latin1')).toLowerCase(), /xylo/, file)
  })

  it('finds words by their stem, among thousands', { timeoutMs: 20_000 }, async (context) => {
    const { path, memory } = await openFile(context)
    await memory.put(fact('needle', 'The needles are running.'))
    const database = new DatabaseSync(path)
    database.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      INSERT INTO memories (scope, id, trusted, updated, record)
      SELECT 'user:42', 'x' || i, 1, i, replace(replace(record, '"needle"', '"x' || i || '"'), 'The needles are running', 'Straw ' || i)
      FROM n, memories WHERE id = 'needle'`)
    database.exec(
      `INSERT INTO words (rowid, text) SELECT number, 'straw ' || substr(id, 2) FROM memories WHERE id <> 'needle'`,
    )
    database.close()
    assert.equal(
      (await memory.search('run')).map(({ id }) => id),
      ['needle'],
    )
    assert.equal(
      (await memory.search('straw 12345', { limit: 1 })).map(({ id }) => id),
      ['x12345'],
    )
    assert.is((await memory.list()).length, 20_001)
    assert.ok((await stat(path)).size > 0)
  })
})
