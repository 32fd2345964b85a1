import type { Database, Run } from './database.ts'
import { isMissingTable, Refusal } from './failures.ts'

/**
 * Migrations of the tables: a schema with the first n of these has version n. A released step is never changed, and must not break
 * processes that know only the steps before it.
 *
 * Each process, not each log, has one row that reports it alive. Columns that an append changes are in no index, so that an agent's row
 * is rewritten in place. Lists are ordered by `minute`, which changes rarely. `labels`: values that lists are filtered by. `texts`:
 * the words of messages, indexed after the appends, up to the record `noted`. Epochs are counted for all logs together, so that a log that
 * is deleted and recreated has no earlier epoch. Bodies are text, because `jsonb` rejects some valid JSON.
 */
const steps: readonly ((schema: string) => string)[] = [
  (schema) => `
CREATE SEQUENCE ${schema}.epochs;
CREATE TABLE ${schema}.workers (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  holder text NOT NULL,
  url text,
  beat timestamptz NOT NULL,
  lease interval NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE ${schema}.agents (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  last_seq int NOT NULL DEFAULT 0,
  written_at bigint NOT NULL DEFAULT 0,
  epoch bigint NOT NULL,
  worker bigint,
  created_at bigint,
  definition text,
  path text,
  forked_from text,
  metadata text,
  minute bigint GENERATED ALWAYS AS (written_at / 60000) STORED
) WITH (fillfactor = 60);
CREATE INDEX newest ON ${schema}.agents (minute DESC);
CREATE INDEX held ON ${schema}.agents (worker) WHERE worker IS NOT NULL;
CREATE TABLE ${schema}.records (
  agent bigint NOT NULL,
  epoch bigint NOT NULL,
  seq int NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (agent, seq)
);
CREATE TABLE ${schema}.labels (
  name text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  agent bigint NOT NULL,
  PRIMARY KEY (name, value, agent)
);
CREATE INDEX labelled ON ${schema}.labels (agent);
CREATE TABLE ${schema}.contents (
  agent bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  bytes bytea NOT NULL,
  used bigint NOT NULL,
  PRIMARY KEY (agent, id)
);
CREATE TABLE ${schema}.checkpoints (
  agent bigint PRIMARY KEY,
  seq int NOT NULL,
  form text NOT NULL,
  digest text NOT NULL,
  body bytea NOT NULL
);
CREATE TABLE ${schema}.texts (
  agent bigint NOT NULL,
  seq int NOT NULL,
  words tsvector NOT NULL,
  PRIMARY KEY (agent, seq)
);
CREATE INDEX said ON ${schema}.texts USING gin (words);
CREATE TABLE ${schema}.noted (
  agent bigint PRIMARY KEY,
  seq int NOT NULL
);
DO $$ BEGIN
  ALTER TABLE ${schema}.records ALTER body SET COMPRESSION lz4;
EXCEPTION WHEN OTHERS THEN NULL; -- A server that was built without it.
END $$;
`,
  (schema) => `
ALTER TABLE ${schema}.agents ADD COLUMN due_at bigint;
CREATE INDEX due ON ${schema}.agents (due_at, id) WHERE due_at IS NOT NULL;
`,
]

/** Time limit for creating the tables in milliseconds, including waiting for other processes that create them. */
const mostMs = 300_000

const newest = steps.length

/** Returns the version of the tables; `undefined` if there are none. @throws Refusal when they are newer than these. */
async function versionIn(run: Run, schema: string): Promise<number | undefined> {
  const rows = await run(`SELECT number FROM ${schema}.version`)
  const version = rows[0]?.['number']
  if (typeof version !== 'number') return undefined
  if (version > newest)
    throw new Refusal(`its tables have version ${version}, and this escapement knows them up to ${newest}: update it`)
  return version
}

/** Returns true if the tables exist, so that they can be read. @throws Refusal when they are newer than these. */
export async function hasTables(database: Database): Promise<boolean> {
  try {
    const run: Run = (text) => database.query(text)
    return (await versionIn(run, database.schema)) !== undefined
  } catch (thrown) {
    if (isMissingTable(thrown)) return false
    throw thrown
  }
}

/**
 * Updates the tables, once, even if several processes try. If they are up to date, nothing is created and no right to create is needed.
 *
 * @throws Refusal when the schema belongs to something else or to a newer version, or its database cannot hold every text.
 */
export async function prepareTables(database: Database): Promise<void> {
  const { schema } = database
  try {
    const version = await versionIn((text) => database.query(text), schema)
    if (version === newest) return
  } catch (thrown) {
    if (!isMissingTable(thrown)) throw thrown
  }
  await database.transaction(async (run) => {
    await run(`SELECT pg_advisory_xact_lock(hashtext('escapement'), hashtext($1))`, [schema], mostMs)
    const found = await foundIn(run, schema)
    for (const step of steps.slice(found)) await run(step(schema), [], mostMs)
    await run(`UPDATE ${schema}.version SET number = ${newest}`)
  })
}

/** Returns the version of the tables, and creates its table if missing. */
async function foundIn(run: Run, schema: string): Promise<number> {
  const [there] = await run(
    `SELECT to_regclass($1) IS NOT NULL AS tables, to_regnamespace($2) IS NOT NULL AS schema,
      current_setting('server_encoding') AS encoding`,
    [`${schema}.version`, schema],
  )
  if (there?.['encoding'] !== 'UTF8')
    throw new Refusal(`the encoding of the database is ${String(there?.['encoding'])}, and it must be UTF8`)
  if (there['schema'] !== true) await run(`CREATE SCHEMA ${schema}`)
  if (there['tables'] === true) return (await versionIn(run, schema)) ?? 0
  const others = await run(`SELECT FROM pg_class WHERE relnamespace = to_regnamespace($1) LIMIT 1`, [schema])
  if (others.length > 0) throw new Refusal('the schema is of something else: name another one')
  await run(`CREATE TABLE ${schema}.version (number int NOT NULL); INSERT INTO ${schema}.version VALUES (0)`)
  return 0
}
