import { mkdtemp, rm } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from '../src/sqliteStore.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'

/** The tables of version 1, with an agent of each kind in them. */
const first = `
CREATE TABLE epochs (last INTEGER NOT NULL) STRICT;
INSERT INTO epochs (last) VALUES (7);
CREATE TABLE writers (number INTEGER PRIMARY KEY, holder TEXT NOT NULL) STRICT;
CREATE TABLE agents (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, last_seq INTEGER NOT NULL DEFAULT 0, written_at INTEGER NOT NULL DEFAULT 0,
  epoch INTEGER NOT NULL DEFAULT 0, writer INTEGER, created_at INTEGER, definition TEXT, path TEXT, forked_from TEXT, metadata TEXT
) STRICT;
CREATE INDEX newest ON agents (written_at DESC, id) WHERE last_seq > 0;
CREATE INDEX held ON agents (writer) WHERE writer IS NOT NULL;
CREATE TABLE records (agent INTEGER NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (agent, seq)) STRICT, WITHOUT ROWID;
CREATE TABLE contents (agent INTEGER NOT NULL, id TEXT NOT NULL, bytes BLOB NOT NULL, used INTEGER NOT NULL, PRIMARY KEY (agent, id)) STRICT;
INSERT INTO agents VALUES
  (1, 'a', 1, 10, 3, NULL, 10, 'one', '[]', NULL, '{"user":"u1","plan":2}'),
  (2, 'b', 1, 20, 4, NULL, 20, 'one', '["r","a"]', 'a', NULL),
  (3, 'c', 1, 30, 5, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO records VALUES (3, 1, '{"v":1,"seq":1,"time":30,"type":"later.thing"}');
PRAGMA user_version = 1;
`

async function fileWith({ cleanup }: Pick<CaseContext, 'cleanup'>, sql: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-tables-'))
  cleanup(() => rm(dir, { recursive: true }))
  const file = join(dir, 'agents.db')
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
  return file
}

describe('the tables of a SQLite store', (it) => {
  it('that an older version made are brought up to date, and list what was there', async (context) => {
    const store = sqliteStore(await fileWith(context, first))
    context.cleanup(() => store.close())
    const idsOf = async (query: Parameters<NonNullable<typeof store.page>>[0]): Promise<string[]> =>
      (await store.page!(query)).logs.map(({ id }) => id)
    assert.equal(await idsOf({}), ['c', 'b', 'a'])
    assert.equal(await idsOf({ metadata: { plan: 2 } }), ['a'])
    assert.equal(await idsOf({ parent: 'a' }), ['b'])
    assert.equal(await idsOf({ within: ['r'] }), ['b'])
    assert.equal(await idsOf({ forkedFrom: 'a' }), ['b'])
    assert.equal(await idsOf({ parent: null }), ['a'])
    const lease = await store.open('a')
    assert.is(lease.epoch, 8)
  })

  it('of a newer version are refused and left alone', async (context) => {
    const file = await fileWith(context, 'PRAGMA user_version = 99')
    const store = sqliteStore(file)
    context.cleanup(() => store.close())
    await assert.rejects(store.open('a'), /tables have version 99.*update it/)
    await assert.rejects(store.page!(), /tables have version 99/)
    const database = new DatabaseSync(file, { readOnly: true })
    assert.equal(database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n'], 0)
    database.close()
  })
})
