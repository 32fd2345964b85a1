import { mkdtemp, rm } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LogRecord, recordVersion } from '../../../src/protocol/records.ts'
import { Connection } from '../src/connection.ts'
import { sqliteStore } from '../src/sqliteStore.ts'
import { TextIndex } from '../src/textIndex.ts'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'

const said = (seq: number, text: string): LogRecord => ({
  v: recordVersion,
  seq,
  time: seq,
  runId: 'run',
  turnIndex: 0,
  type: 'message.added',
  nodeId: seq,
  parentId: null,
  message: { role: 'user', source: 'prompt', content: [{ type: 'text', text }] },
})

/** A log of an agent with so many records, each with its number. */
const numbered = (count: number, from = 1): LogRecord[] =>
  Array.from({ length: count }, (_, index) => said(from + index, `n${from + index}n fox`))

async function newFile({ cleanup }: Pick<CaseContext, 'cleanup'>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-texts-'))
  cleanup(() => rm(dir, { recursive: true, force: true }))
  return join(dir, 'agents.db')
}

/** How far each log is noted, as the file says. */
function notedIn(file: string): number[] {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return database
      .prepare('SELECT seq FROM noted ORDER BY agent')
      .all()
      .map(({ seq }) => Number(seq))
  } finally {
    database.close()
  }
}

describe('the index of a SQLite store', (it) => {
  it('is filled behind the appends, some records at a time', async (context) => {
    const file = await newFile(context)
    const clock = simulatedClock()
    const store = sqliteStore(file, { clock })
    context.cleanup(() => store.close())
    for (const id of ['a', 'b']) {
      await store.open(id)
      await store.append(id, numbered(60))
    }
    assert.equal(notedIn(file), [])
    await clock.advance(1_000)
    assert.ok(notedIn(file).length > 0)
    await clock.advance(1_000)
    assert.equal(notedIn(file), [60, 60])
    await store.append('a', [said(61, 'owl')])
    assert.equal(notedIn(file), [60, 60])
    await clock.advance(1_000)
    assert.equal(notedIn(file), [61, 60])
  })

  it('goes on where a process was that ended in between', async (context) => {
    const file = await newFile(context)
    const clock = simulatedClock()
    const first = sqliteStore(file, { clock })
    await first.open('a')
    await first.append('a', numbered(200))
    await clock.advance(1_000)
    await first.close()
    const second = sqliteStore(file)
    context.cleanup(() => second.close())
    for (const seq of [1, 50, 51, 199, 200]) assert.is((await second.search!({ text: `n${seq}n` })).length, 1)
    assert.is((await second.search!({ text: 'fox', limit: 1_000 })).length, 200)
  })

  it('has each record once when several note it at the same time', async (context) => {
    const file = await newFile(context)
    const stores = Array.from({ length: 4 }, () => sqliteStore(file))
    context.cleanup(() => Promise.all(stores.map((store) => store.close())))
    await stores[0]!.open('a')
    await stores[0]!.append('a', numbered(300))
    const found = await Promise.all(stores.map((store) => store.search!({ text: 'fox', limit: 1_000 })))
    assert.equal(
      found.map((hits) => hits.length),
      [300, 300, 300, 300],
    )
  })

  it('answers with what there is while another process writes, and with all once it does not', async (context) => {
    const file = await newFile(context)
    const store = sqliteStore(file)
    context.cleanup(() => store.close())
    await store.open('a')
    await store.append('a', numbered(3))
    const writer = new DatabaseSync(file)
    writer.exec('BEGIN IMMEDIATE')
    setImmediate(() => setImmediate(() => writer.exec('ROLLBACK')))
    assert.is((await store.search!({ text: 'fox' })).length, 3)
    writer.close()
  })

  it('notes nothing of a log that another process deleted and that has its number', async (context) => {
    const file = await newFile(context)
    const store = sqliteStore(file)
    context.cleanup(() => store.close())
    const lease = await store.open('a')
    await store.append('a', numbered(2))
    await lease.release()
    const index = new TextIndex(new Connection(file, { isSynced: false }), simulatedClock())
    index.written(7)
    await index.catchUp()
    index.close()
    await store.delete('a')
    assert.equal(notedIn(file), [])
    assert.equal(await store.search!({ text: 'fox' }), [])
  })
})
