import { someRuns } from '../support/seeds.ts'
import * as fc from 'fast-check'
import { assembleRequest } from '../../src/conversation/request/assembleRequest.ts'
import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { rebuildContext } from '../../src/machines/rebuildContext.ts'
import { RuntimeError } from '../../src/protocol/errors.ts'
import { logRecordSchema, type LogRecord } from '../../src/protocol/records.ts'
import { lineOf } from '../../packages/stores/src/checksum.ts'
import { readRecord } from '../../packages/stores/src/readRecord.ts'
import { liveJob } from '../crash/liveJob.ts'
import { jobFiles } from '../crash/crashJob.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { readAll } from '../../packages/evaluation/src/testing/contractDemands.ts'
import { storeFolder } from '../../packages/stores/test/storeFolder.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** The records of a job with everything in it, as JSON. */
async function jobRecords(context: CaseContext): Promise<Json[]> {
  const { dir } = await storeFolder(context)
  const store = memoryStore()
  await liveJob(store, jobFiles(dir))
  return JSON.parse(JSON.stringify(await readAll(store, 'job'))) as Json[]
}

/** Where in a value something is changed, and into what. */
interface Mutation {
  readonly record: number
  /** Which of the fields on each level. */
  readonly path: readonly number[]
  readonly how: 'replace' | 'remove' | 'add' | 'borrow'
  readonly value: Json
  readonly other: number
}

const awkward = fc.constantFrom<Json>(
  null, -1, 0, 0.5, 1e308, 2 ** 53, '', 'n1', '__proto__', 'constructor', [], {}, [null], { role: 'user' }, true,
) // prettier-ignore
const mutation: fc.Arbitrary<Mutation> = fc.record(
  {
    record: fc.nat(10_000),
    path: fc.array(fc.nat(20), { minLength: 1, maxLength: 5 }),
    how: fc.constantFrom('replace', 'remove', 'add', 'borrow'),
    value: fc.oneof(awkward, fc.jsonValue() as fc.Arbitrary<Json>, fc.integer({ min: 0, max: 300 })),
    other: fc.nat(10_000),
  },
  { noNullPrototype: true },
)

/** Carries a mutation out on a copy: a field is replaced, removed, added, or taken from another record's same place. */
function mutate(records: readonly Json[], { record, path, how, value, other }: Mutation): Json[] {
  const at = record % records.length
  const copy = structuredClone(records[at]!)
  let [holder, donor]: [Json, Json | undefined] = [copy, records[other % records.length]]
  for (const [depth, pick] of path.entries()) {
    if (typeof holder !== 'object' || holder === null) break
    const fields = holder as { [key: string]: Json }
    const keys = Object.keys(fields)
    const key = keys[pick % Math.max(1, keys.length)]
    if (key === undefined) break
    const inside = fields[key]!
    const given = (donor as { [key: string]: Json } | null | undefined)?.[key]
    if (depth < path.length - 1 && typeof inside === 'object' && inside !== null) {
      holder = inside
      donor = given
      continue
    }
    if (how === 'remove') delete fields[key]
    else if (how === 'add') fields[`extra${pick}`] = value
    else if (how === 'borrow' && given !== undefined) fields[key] = structuredClone(given)
    else fields[key] = value
    break
  }
  return records.with(at, copy)
}

/** Records in another order, some twice or not at all, some changed; their seqs in order again, or not. */
const disorder = fc.record(
  {
    mutations: fc.array(mutation, { maxLength: 3 }),
    swaps: fc.array(fc.tuple(fc.nat(10_000), fc.nat(10_000)), { maxLength: 2 }),
    drops: fc.array(fc.nat(10_000), { maxLength: 2 }),
    repeats: fc.array(fc.nat(10_000), { maxLength: 2 }),
    renumbers: fc.boolean(),
    length: fc.nat(10_000),
  },
  { noNullPrototype: true },
)

type Disorder = typeof disorder extends fc.Arbitrary<infer T> ? T : never

function disordered(whole: readonly Json[], change: Disorder): Json[] {
  let records = whole.slice(0, 1 + (change.length % whole.length))
  for (const each of change.mutations) records = mutate(records, each)
  for (const [a, b] of change.swaps) {
    const [i, j] = [a % records.length, b % records.length]
    records = records.with(i, records[j]!).with(j, records[i]!)
  }
  for (const at of change.drops) if (records.length > 1) records = records.toSpliced(at % records.length, 1)
  for (const at of change.repeats) records = records.toSpliced(at % records.length, 0, records[at % records.length]!)
  return change.renumbers
    ? records.map((record, index) => (isObject(record) ? { ...record, seq: index + 1 } : record))
    : records
}

const isObject = (value: Json): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Records that a reader of files finds in a log of these values, before the first bad one. */
function readValues(values: readonly Json[]): LogRecord[] {
  const records: LogRecord[] = []
  for (const [index, value] of values.entries()) {
    const read = readRecord(lineOf(JSON.stringify(value)), { file: 'a.jsonl', line: index + 1 })
    if (read instanceof RuntimeError) {
      assert.ok(['LOG_CORRUPT', 'LOG_VERSION'].includes(read.code), read.code)
      return records
    }
    assert.ok(logRecordSchema().safeParse(read).success, 'the reader let something through')
    records.push(read)
  }
  return records
}

/** Runs what works on a log; anything but a RuntimeError is passed on. */
function tolerating<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (thrown) {
    if (thrown instanceof RuntimeError) return undefined
    throw thrown
  }
}

describe('a log with anything wrong in it', (it) => {
  const patient = { timeoutMs: 120_000 }

  it('gives records or typed errors, from the first line to the request', patient, async (context) => {
    const whole = await jobRecords(context)
    const seen = { read: 0, folded: 0, asked: 0 }
    const property = fc.property(disorder, (change) => {
      const values = disordered(whole, change)
      const records = readValues(values)
      seen.read += Number(records.length === values.length)
      const conversation = tolerating(() => rebuildConversation(records))
      tolerating(() => rebuildContext(records))
      if (conversation === undefined) return
      seen.folded += Number(records.length === values.length)
      const frame = { system: 's', tools: [], settings: {} }
      const assembled = tolerating(() => assembleRequest(conversation, frame, 40))
      if (assembled !== undefined) seen.asked += Number(checkRequest(assembled.request).length === 0)
    })
    fc.assert(property, { numRuns: someRuns(1_500), seed: 20_260_202 })
    // Else nothing was tried: too much is refused at the door.
    assert.ok(
      seen.read > someRuns(100) && seen.folded > someRuns(50) && seen.asked > someRuns(50),
      JSON.stringify(seen),
    )
  })

  it('folds a prefix that was sound to the same conversation', patient, async (context) => {
    const whole = (await jobRecords(context)) as unknown as LogRecord[]
    const property = fc.property(disorder, (change) => {
      const values = disordered(whole as unknown as Json[], { ...change, renumbers: false })
      const records = readValues(values)
      const sound = records.findIndex((record, index) => JSON.stringify(record) !== JSON.stringify(whole[index]))
      const prefix = records.slice(0, sound < 0 ? records.length : sound)
      const conversation = rebuildConversation(prefix)
      assert.is(conversation.lastSeq, prefix.length)
    })
    fc.assert(property, { numRuns: someRuns(300), seed: 20_260_203 })
  })

  it('is refused when it is nested deeper than anything the library writes', () => {
    const nested = (levels: number): string => '[{"a":'.repeat(levels / 2) + '1' + '}]'.repeat(levels / 2)
    const start = (input: string): string =>
      `{"v":3,"seq":1,"time":1,"runId":"a/r0","turnIndex":0,"type":"tool.start","callId":"c","key":"k","name":"t","input":${input}}`
    for (const json of [nested(200_000), start(nested(200_000)), start(nested(1_000)), start('['.repeat(300_000))]) {
      const read = readRecord(lineOf(json), { file: 'a.jsonl', line: 1 })
      assert.ok(read instanceof RuntimeError && read.code === 'LOG_CORRUPT')
    }
    assert.not.instance(readRecord(lineOf(start(nested(500))), { file: 'a.jsonl', line: 1 }), RuntimeError)
  })
})
