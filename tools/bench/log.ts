/**
 * The log on this machine's disk: appends per second of `fileStore` by policy, beside raw `fs` writes of the same bytes with
 * the same grouping and a sync a group, in turn: once with the bytes made beforehand, once made from the records as it goes
 * (JSON, no checksum). And how long a log of many records takes to load. Ratios are ours / theirs: 1 is as fast.
 *
 *   node --expose-gc tools/bench/log.ts [--records 100000] [--appends 20000] [--synced 300] [--rounds 5] [--only appends|load]
 */
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fileStore, type LogRecord } from '../../src/index.ts'
import { rebuildConversation } from '../../src/sessions.ts'
import { lineOf } from '../../packages/stores/src/checksum.ts'
import { format, median, now } from './measure.ts'

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '100000' },
    appends: { type: 'string', default: '20000' },
    synced: { type: 'string', default: '300' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string' },
  },
})
const [recordCount, appendCount, syncedCount, rounds] = [
  Number(values.records),
  Number(values.appends),
  Number(values.synced),
  Number(values.rounds),
] as const

const text = 'What was found in the file, in some words of no particular meaning. '.repeat(4)

/** A log as prompts would make it: a message of a user, which hangs below the one before it, each. */
const recordsOf = (count: number): LogRecord[] =>
  Array.from({ length: count }, (_, index) => ({
    v: 3,
    seq: index + 1,
    time: 1_700_000_000_000 + index,
    runId: 'bench/r1',
    turnIndex: 0,
    type: 'message.added',
    nodeId: index + 1,
    parentId: index === 0 ? null : index,
    message: { role: 'user', source: 'prompt', content: [{ type: 'text', text }] },
  }))

type Durability = 'os' | 'batch' | 'each'

interface Load {
  readonly title: string
  readonly durability: Durability
  readonly records: readonly LogRecord[]
  /** Appends that are made without waiting for one another. */
  readonly ahead: number
}

const root = await mkdtemp(join(tmpdir(), 'escapement-bench-'))
let folders = 0
const newFolder = (): string => join(root, String((folders += 1)))

/** Milliseconds of appending, one record a call, `ahead` calls at a time. */
async function ours({ durability, records, ahead }: Load): Promise<number> {
  const store = fileStore(newFolder(), { durability })
  await store.open('a')
  const start = now()
  for (let at = 0; at < records.length; at += ahead)
    await Promise.all(records.slice(at, at + ahead).map((record) => store.append('a', [record])))
  const took = now() - start
  await store.close()
  return took
}

const bytesOf = (records: readonly LogRecord[], line: (json: string) => string): Buffer =>
  Buffer.from(records.map((record) => `${line(JSON.stringify(record))}\n`).join(''))

/** Milliseconds of writing the same by hand: bytes that are `ready`, or made as it goes. */
async function byHand({ durability, records, ahead }: Load, isReady: boolean): Promise<number> {
  const groups: (() => Buffer)[] = []
  for (let at = 0; at < records.length; at += ahead) {
    const group = records.slice(at, at + ahead)
    const ready = isReady ? bytesOf(group, lineOf) : undefined
    groups.push(() => ready ?? bytesOf(group, (json) => json))
  }
  const handle: FileHandle = await open(join(root, `raw${(folders += 1)}`), 'wx')
  const start = now()
  for (const group of groups) {
    await handle.write(group())
    if (durability !== 'os') await handle.datasync()
  }
  const took = now() - start
  await handle.close()
  return took
}

const many = recordsOf(appendCount)
const few = recordsOf(syncedCount)
const loads: readonly Load[] = [
  { title: 'os, one at a time', durability: 'os', records: many, ahead: 1 },
  { title: 'os, 100 at a time', durability: 'os', records: many, ahead: 100 },
  { title: 'batch, all at once', durability: 'batch', records: many, ahead: appendCount },
  { title: 'each, one at a time', durability: 'each', records: few, ahead: 1 },
  { title: 'each, 100 at a time', durability: 'each', records: many, ahead: 100 },
]

const print = (line: string): void => void process.stdout.write(`${line}\n`)

const row = (title: string, cells: readonly string[]): string =>
  title.padEnd(20) + cells.map((cell) => cell.padStart(12)).join('')

async function compare(load: Load): Promise<void> {
  const contenders = [() => ours(load), () => byHand(load, true), () => byHand(load, false)] as const
  for (const contender of contenders) await contender()
  const figures: number[][] = []
  for (let round = 0; round < rounds; round += 1) {
    const took: number[] = []
    for (const contender of contenders) {
      globalThis.gc?.()
      took.push(await contender())
    }
    figures.push(took)
  }
  const perSecond = contenders.map(
    (_, index) => load.records.length / (median(figures.map((took) => took[index]!)) / 1000),
  )
  const ratios = [1, 2].map((index) => median(figures.map((took) => took[index]! / took[0]!)))
  print(row(load.title, [...perSecond.map((value) => format(value, 0)), ...ratios.map((ratio) => format(ratio, 2))]))
}

async function measureLoading(): Promise<void> {
  const dir = newFolder()
  const writer = fileStore(dir)
  await writer.open('a')
  await writer.append('a', recordsOf(recordCount))
  await writer.close()
  const took: { open: number; read: number; fold: number; heap: number }[] = []
  for (let round = 0; round < rounds; round += 1) {
    globalThis.gc?.()
    const before = process.memoryUsage().heapUsed
    const store = fileStore(dir)
    const start = now()
    await store.open('a')
    const opened = now()
    const records: LogRecord[] = []
    for await (const record of store.read('a')) records.push(record)
    const read = now()
    const conversation = rebuildConversation(records)
    const folded = now()
    globalThis.gc?.()
    const heap = process.memoryUsage().heapUsed - before
    if (conversation.lastSeq !== recordCount) throw new Error(`${conversation.lastSeq} of ${recordCount} were loaded`)
    took.push({ open: opened - start, read: read - opened, fold: folded - read, heap })
    await store.close()
  }
  const of = (key: keyof (typeof took)[number]): number => median(took.map((round) => round[key]))
  print(
    `\nA log of ${format(recordCount, 0)} records: open ${format(of('open'))} ms, read and check ${format(of('read'))} ms,`,
  )
  print(`fold ${format(of('fold'))} ms; records and conversation take ${format(of('heap') / 2 ** 20)} MiB of heap.`)
}

try {
  if (values.only !== 'load') {
    print(row('appends per second', ['ours', 'raw fs', 'JSON + fs', '/ raw fs', '/ JSON + fs']))
    for (const load of loads) await compare(load)
  }
  if (values.only !== 'appends') await measureLoading()
} finally {
  await rm(root, { recursive: true })
}
