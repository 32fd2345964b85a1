import type { DatabaseSync } from 'node:sqlite'
import { inTransaction } from './database.ts'
import { labelsIn } from '../../stores/src/labels.ts'

/** A migration: SQL, or a function for more than SQL. */
type Step = string | ((database: DatabaseSync) => void)

/**
 * Migrations of the tables: a database with the first n of these has version n. A released step is never changed.
 * `writer` of an agent: the process that has its log open. The fields of its first record are columns, for lists. Epochs are counted
 * for all logs together, so that a log that is deleted and recreated has no earlier epoch. `labels`: values that lists are filtered by,
 * for every agent that has them. `texts`: the words of messages, each record under agent * 2^32 + seq. `noted`: the last record of an agent
 * whose words are in it.
 */
const steps: readonly Step[] = [
  `
CREATE TABLE epochs (last INTEGER NOT NULL) STRICT;
INSERT INTO epochs (last) VALUES (0);
CREATE TABLE writers (
  number INTEGER PRIMARY KEY,
  holder TEXT NOT NULL
) STRICT;
CREATE TABLE agents (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  last_seq INTEGER NOT NULL DEFAULT 0,
  written_at INTEGER NOT NULL DEFAULT 0,
  epoch INTEGER NOT NULL DEFAULT 0,
  writer INTEGER,
  created_at INTEGER,
  definition TEXT,
  path TEXT,
  forked_from TEXT,
  metadata TEXT
) STRICT;
CREATE INDEX newest ON agents (written_at DESC, id) WHERE last_seq > 0;
CREATE INDEX held ON agents (writer) WHERE writer IS NOT NULL;
CREATE TABLE records (
  agent INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (agent, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE contents (
  agent INTEGER NOT NULL,
  id TEXT NOT NULL,
  bytes BLOB NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (agent, id)
) STRICT;
`,
  (database) => {
    database.exec(`
CREATE TABLE labels (
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  agent INTEGER NOT NULL,
  PRIMARY KEY (name, value, agent)
) STRICT, WITHOUT ROWID;
CREATE INDEX newest_roots ON agents (written_at DESC, id) WHERE last_seq > 0 AND path = '[]';
`)
    const insert = database.prepare('INSERT INTO labels (name, value, agent) VALUES (?, ?, ?)')
    const known = database.prepare(
      'SELECT number, path, forked_from, metadata FROM agents WHERE created_at IS NOT NULL',
    )
    for (const row of known.iterate())
      for (const [name, value] of labelsIn(row)) insert.run(name, value, Number(row['number']))
  },
  `
CREATE TABLE checkpoints (
  agent INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL,
  form TEXT NOT NULL,
  digest TEXT NOT NULL,
  body BLOB NOT NULL
) STRICT;
`,
  `
CREATE VIRTUAL TABLE texts USING fts5 (
  words, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
);
CREATE TABLE noted (
  agent INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL
) STRICT;
`,
  // Where the agents of a writer are reached.
  'ALTER TABLE writers ADD COLUMN url TEXT',
  // When an agent wants to be woken.
  `
ALTER TABLE agents ADD COLUMN due_at INTEGER;
CREATE INDEX due ON agents (due_at, id) WHERE due_at IS NOT NULL;
`,
]

/**
 * Updates the tables of a database, once, even if several processes try.
 *
 * @throws Error when the database belongs to something else, or to a newer version.
 */
export function prepareTables(database: DatabaseSync): void {
  // A file that can only be read is read.
  if (versionOf(database) === steps.length) return
  inTransaction(database, () => {
    const found = versionOf(database)
    if (found > steps.length)
      throw new Error(
        `its tables have version ${found}, and this escapement knows them up to ${steps.length}: update it`,
      )
    if (found === 0 && database.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.['count'] !== 0)
      throw new Error('it is the database of something else')
    for (const step of steps.slice(found)) {
      if (typeof step === 'string') database.exec(step)
      else step(database)
    }
    if (found < steps.length) database.exec(`PRAGMA user_version = ${steps.length}`)
  })
}

const versionOf = (database: DatabaseSync): number =>
  Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
