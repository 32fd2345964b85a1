import type { Database, Run } from './database.ts'
import { isMissingTable, Refusal } from './failures.ts'

/**
 * The tables, step by step: a schema that has the first n of these has version n. A step that has been released is never changed, and
 * must leave those at work that know the tables only up to the one before.
 *
 * One row a process tells that it is alive, and not one a log. Columns that an append changes are part of no index, so that the row of an
 * agent is written anew in its place; lists go by the `minute`, which changes rarely. `labels`: values that lists are filtered by. `texts`:
 * words that were said, filled behind the appends, up to the record `noted`. Epochs are counted for all logs together, so that a log that
 * is deleted and begun anew has no earlier epoch. Bodies are text: `jsonb` refuses what JSON may hold.
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

/** How long making the tables may take, with others that make them, in milliseconds. */
const mostMs = 300_000

const newest = steps.length

/** The version of the tables; `undefined`: there are none. @throws Refusal when they are newer than these. */
async function versionIn(run: Run, schema: string): Promise<number | undefined> {
  const rows = await run(`SELECT number FROM ${schema}.version`)
  const version = rows[0]?.['number']
  if (typeof version !== 'number') return undefined
  if (version > newest)
    throw new Refusal(`its tables have version ${version}, and this escapement knows them up to ${newest}: update it`)
  return version
}

/** Returns true if the tables are there, so that they can be read. @throws Refusal when they are newer than these. */
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
 * Brings the tables up to date: once, even if several processes try. Where they exist, nothing is made, and no right to make any is needed.
 *
 * @throws Refusal when the schema is of something else or of a newer version, or its database cannot hold every text.
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

/** The version of the tables, whose place is made if there is none. */
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
