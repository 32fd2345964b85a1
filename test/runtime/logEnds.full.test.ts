import { some, someRuns } from '../support/seeds.ts'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { messageOf } from '../../src/protocol/errors.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { readAll } from '../../packages/evaluation/src/testing/contractDemands.ts'
import { fileStore } from '../../packages/stores/src/fileStore.ts'
import { repairLog } from '../../packages/stores/src/repairLog.ts'
import { jobFiles } from '../crash/crashJob.ts'
import { readOutcome, saidIn, trunkOf, unapprovedIn } from '../crash/jobOutcome.ts'
import { liveJob } from '../crash/liveJob.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { failsWith, storeFolder } from '../../packages/stores/test/storeFolder.ts'

interface FinishedJob {
  readonly records: readonly LogRecord[]
  readonly bytes: Buffer
  /** Size of the log with so many records, by their number. */
  readonly sizes: readonly number[]
  /** A new folder that holds what the job left, with its log cut to so many bytes. */
  cut(size: number): Promise<string>
}

const logIn = (folder: string): string => join(jobFiles(folder).store, 'job.jsonl')

/** The log of a job with tools, approvals, reverts, compactions and helpers, as it was left in the end. */
async function finishedJob(context: CaseContext): Promise<FinishedJob> {
  const { dir } = await storeFolder(context)
  const whole = join(dir, 'whole')
  const files = jobFiles(whole)
  await liveJob(fileStore(files.store), files)
  assert.equal((await readOutcome(whole)).faults, [])
  const bytes = await readFile(logIn(whole))
  const sizes = [0]
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) sizes.push(at + 1)
  // The helpers' logs and the ledger are as at the end: what was done before a cut was done.
  const logs = (await readdir(files.store)).filter((name) => name !== 'job.jsonl')
  const kept = [files.ledger, ...logs.map((name) => join(files.store, name))]
  const contents = await Promise.all(
    kept.map(async (path) => [path.slice(whole.length), await readFile(path)] as const),
  )
  let copies = 0
  return {
    records: await readAll(fileStore(files.store), 'job'),
    bytes,
    sizes,
    async cut(size) {
      const folder = join(dir, `cut-${(copies += 1)}`)
      await mkdir(dirname(logIn(folder)), { recursive: true })
      await writeFile(logIn(folder), bytes.subarray(0, size))
      await Promise.all(contents.map(([path, content]) => writeFile(join(folder, path), content)))
      return folder
    },
  }
}

/** Goes on with a copy to the same trunk as the job that was never cut; effects are the crash matrix' matter. */
async function goOn(folder: string, { records }: FinishedJob): Promise<void> {
  const files = jobFiles(folder)
  const end = await liveJob(fileStore(files.store), files)
  assert.is(end?.stopReason, 'stop')
  const log = await readAll(fileStore(files.store), 'job')
  assert.equal(unapprovedIn(log), [])
  const [seen, expected] = [rebuildConversation(log), rebuildConversation(records)]
  assert.equal(saidIn(seen), saidIn(expected))
  assert.equal(trunkOf(seen), trunkOf(expected))
}

/** Kind of a place between two records. */
const kindOf = (record: LogRecord | undefined): string => {
  const { type = 'end', queue = '', why = '', decision = '', name = '' }: { [field: string]: unknown } = { ...record }
  return [type, queue, why, decision, name].join(' ')
}

/** Numbers of records to cut a log after: the first and the last of each kind of place. */
function placesIn(records: readonly LogRecord[]): number[] {
  const places = Map.groupBy(
    records.map((_, index) => index + 1),
    (kept) => `${kindOf(records[kept - 1])} | ${kindOf(records[kept])}`,
  )
  return [...new Set([...places.values()].flatMap((all) => [all[0]!, all.at(-1)!]))]
}

const patient = { timeoutMs: 120_000 }

describe('a log that was cut', (it) => {
  it('at any of its last 200 bytes loads, says what was cut off, and goes on', patient, async (context) => {
    const job = await finishedJob(context)
    for (const size of some(Array.from({ length: 201 }, (_, index) => job.bytes.length - 200 + index))) {
      const folder = await job.cut(size)
      const kept = job.sizes.findLastIndex((end) => end <= size)
      const store = fileStore(jobFiles(folder).store)
      const lease = await store.open('job')
      assert.equal([lease.lastSeq, lease.repairedBytes], [kept, size - job.sizes[kept]!], `cut at ${size}`)
      await store.close()
      await goOn(folder, job)
    }
  })

  it('after a record of any kind goes on to the same end', patient, async (context) => {
    const job = await finishedJob(context)
    const wrong: string[] = []
    for (const kept of placesIn(job.records)) {
      try {
        await goOn(await job.cut(job.sizes[kept]!), job)
      } catch (thrown) {
        wrong.push(`after record ${kept}, ${kindOf(job.records[kept - 1])}: ${messageOf(thrown)}`)
      }
    }
    assert.equal(wrong, [])
  })
})

describe('bytes that changed in a log', (it) => {
  it('are found wherever they are, naming file and line, and repaired up to there', patient, async (context) => {
    const { bytes, sizes, records, cut } = await finishedJob(context)
    const folder = await cut(bytes.length)
    const [file, dir] = [logIn(folder), jobFiles(folder).store]
    const change = fc.record({ at: fc.nat(bytes.length - 1), by: fc.integer({ min: 1, max: 255 }) })
    const property = fc.asyncProperty(change, async ({ at, by }) => {
      const damaged = Buffer.from(bytes)
      damaged[at]! ^= by
      await writeFile(file, damaged)
      const line = sizes.findLastIndex((size) => size <= at) + 1
      const seen: LogRecord[] = []
      let failure: unknown
      try {
        for await (const record of fileStore(dir).read('job')) seen.push(record)
      } catch (thrown) {
        failure = thrown
      }
      assert.equal(seen, records.slice(0, line - 1))
      if (line < records.length) assert.ok(failsWith('LOG_CORRUPT', `Line ${line} of ${file}`)(failure))
      const { kept, cutBytes, backup } = await repairLog(file)
      assert.equal([kept, cutBytes], [line - 1, bytes.length - sizes[line - 1]!])
      assert.equal(await readFile(backup!), damaged)
    })
    await fc.assert(property, { numRuns: someRuns(100), seed: 20_260_201 })
  })
})
