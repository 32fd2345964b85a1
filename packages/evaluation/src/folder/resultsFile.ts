import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { describeIssues, hasCode, messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { lastNewline, readLines } from '../../../stores/src/jsonLines.ts'
import { type FileLock, lockFile } from '../../../stores/src/lockFile.ts'
import { syncFolder } from '../../../stores/src/syncFolder.ts'
import {
  type EvaluationHeader,
  type JudgeTrial,
  type ResultsLine,
  resultsVersion,
  type TrialResult,
} from '../results.ts'

/** Returns the path of the results file in an evaluation's folder. */
export const resultsPath = (folder: string): string => join(folder, 'results.jsonl')

/** Contents of a results file. */
export interface Results {
  readonly header: EvaluationHeader
  /** Results by key; the last one counts if a key has several. */
  readonly trials: ReadonlyMap<string, TrialResult>
  readonly judge: JudgeTrial | undefined
  /** Cost in US dollars of trials whose results do not count: interrupted ones, and those made again. */
  readonly lostUsd: number
}

const lineSchema = lazily(() => {
  const count = z.number()
  const cost = count.nullable()
  return z.discriminatedUnion('type', [
    z.looseObject({
      type: z.literal('evaluation'),
      version: z.int().positive(),
      suite: z.looseObject({ name: z.string(), digest: z.string() }),
      tasks: z.array(z.looseObject({ id: z.string(), tags: z.array(z.string()) })),
      arms: z.array(z.looseObject({ name: z.string(), model: z.string(), isPriced: z.boolean() })).min(1),
      trials: z.int().positive(),
      seed: z.number(),
      startedAt: count,
      versions: z.looseObject({ escapement: z.string(), node: z.string() }),
    }),
    z.looseObject({
      type: z.literal('trial'),
      key: z.string(),
      task: z.string(),
      arm: z.string(),
      trial: z.int().nonnegative(),
      seed: count,
      outcome: z.enum(['passed', 'failed', 'error']),
      scores: z.array(
        z.looseObject({ name: z.string(), value: count, passed: z.boolean(), required: z.boolean(), weight: count }),
      ),
      metrics: z.looseObject({ costUsd: cost }).nullable(),
      answer: z.string(),
      agentId: z.string(),
      models: z.array(z.string()),
      startedAt: count,
      ms: count,
    }),
    z.looseObject({ type: z.literal('lost'), key: z.string(), costUsd: count }),
    z.looseObject({ type: z.literal('budget'), budgetUsd: count }),
    z.looseObject({
      type: z.literal('judge'),
      model: z.string(),
      both: count,
      onlyPeople: count,
      onlyJudge: count,
      neither: count,
      failed: count,
      costUsd: cost,
    }),
  ])
})

const corrupt = (file: string, line: number, what: string): RuntimeError =>
  new RuntimeError('LOG_CORRUPT', `Line ${line} of ${file} is wrong: ${what}.`)

function parsedLine(file: string, number: number, bytes: Buffer | undefined): ResultsLine {
  if (bytes === undefined) throw corrupt(file, number, 'it is too long')
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch (thrown) {
    throw corrupt(file, number, messageOf(thrown))
  }
  const checked = lineSchema().safeParse(value)
  if (!checked.success) throw corrupt(file, number, describeIssues(checked.error))
  return checked.data as unknown as ResultsLine
}

/** Contents of a results file, collected line by line. */
class Gathered {
  readonly trials = new Map<string, TrialResult>()
  header: EvaluationHeader | undefined
  judge: JudgeTrial | undefined
  lostUsd = 0

  add(line: ResultsLine): void {
    if (line.type === 'evaluation') this.header = line
    else if (line.type === 'judge') this.judge = line
    else if (line.type === 'lost') this.lostUsd += line.costUsd
    else if (line.type === 'budget') this.header = { ...this.header!, budgetUsd: line.budgetUsd }
    else {
      const before = this.trials.get(line.key)
      if (before !== undefined) this.lostUsd += (before.metrics?.costUsd ?? 0) + (before.judgeUsd ?? 0)
      this.trials.set(line.key, line)
    }
  }
}

/** Reads the complete lines; text after the last newline is unfinished and left out. */
async function gather(handle: FileHandle, file: string, end: number): Promise<Gathered> {
  const gathered = new Gathered()
  let number = 0
  for await (const lines of readLines(handle, { end, skip: 0 }))
    for (const bytes of lines) {
      number += 1
      const line = parsedLine(file, number, bytes)
      if ((number === 1) !== (line.type === 'evaluation'))
        throw corrupt(file, number, number === 1 ? 'the first line says what is evaluated' : 'it begins anew')
      if (line.type === 'evaluation' && line.version > resultsVersion) {
        const what = `${file} has version ${line.version}, and ${resultsVersion} is the newest known here.`
        throw new RuntimeError('LOG_VERSION', what)
      }
      gathered.add(line)
    }
  return gathered
}

const noResults = (folder: string, why: string): RuntimeError =>
  new RuntimeError('INVALID_OPTION', `${folder} holds no evaluation: ${why}.`)

/**
 * Reads the results in a folder, even while an evaluation is writing them.
 *
 * @throws RuntimeError `INVALID_OPTION` if there are none, `LOG_CORRUPT` with the line, `LOG_VERSION`
 */
export async function readResults(folder: string): Promise<Results> {
  const file = resultsPath(folder)
  const handle = await open(file, 'r').catch((thrown: unknown) => {
    throw hasCode(thrown, 'ENOENT') || hasCode(thrown, 'ENOTDIR')
      ? noResults(folder, 'there is no results.jsonl in it')
      : new RuntimeError('STORE_READ_FAILED', `${file} could not be read: ${messageOf(thrown)}.`)
  })
  try {
    const gathered = await gather(handle, file, (await handle.stat()).size)
    if (gathered.header === undefined) throw noResults(folder, 'results.jsonl in it is empty')
    const { header, trials, judge, lostUsd } = gathered
    return { header, trials, judge, lostUsd }
  } finally {
    await handle.close()
  }
}

/** The results file of a folder, held by this process alone, with its contents at the time it was opened. */
export class ResultsFile {
  readonly #handle: FileHandle
  readonly #lock: FileLock
  readonly #file: string
  readonly #gathered: Gathered
  #tail: Promise<void> = Promise.resolve()

  private constructor(parts: { handle: FileHandle; lock: FileLock; file: string; gathered: Gathered }) {
    this.#handle = parts.handle
    this.#lock = parts.lock
    this.#file = parts.file
    this.#gathered = parts.gathered
  }

  /**
   * Opens the file, and creates folder and file if they are missing. An unfinished last line is cut off.
   *
   * @throws RuntimeError `STORE_LOCKED` (another process evaluates there), `STORE_OPEN_FAILED`, `LOG_CORRUPT`, `LOG_VERSION`
   */
  static async open(folder: string): Promise<ResultsFile> {
    const file = resultsPath(folder)
    let lock: FileLock | undefined
    let handle: FileHandle | undefined
    try {
      await mkdir(folder, { recursive: true })
      lock = await lockFile(join(folder, 'lock'))
      handle = await open(file, 'a+')
      const end = (await lastNewline(handle, (await handle.stat()).size)) + 1
      await handle.truncate(end)
      await syncFolder(folder)
      await syncFolder(dirname(folder))
      return new ResultsFile({ handle, lock, file, gathered: await gather(handle, file, end) })
    } catch (thrown) {
      await handle?.close()
      await lock?.release()
      if (thrown instanceof RuntimeError) throw thrown
      throw new RuntimeError('STORE_OPEN_FAILED', `${folder} could not be opened: ${messageOf(thrown)}.`)
    }
  }

  get header(): EvaluationHeader | undefined {
    return this.#gathered.header
  }

  get trials(): ReadonlyMap<string, TrialResult> {
    return this.#gathered.trials
  }

  get judge(): JudgeTrial | undefined {
    return this.#gathered.judge
  }

  /** Cost so far in US dollars, of results that count and those that do not. */
  get spentUsd(): number {
    let sum = this.#gathered.lostUsd + (this.judge?.costUsd ?? 0)
    for (const { metrics, judgeUsd = 0 } of this.trials.values()) sum += (metrics?.costUsd ?? 0) + judgeUsd
    return sum
  }

  /**
   * Appends a line, and resolves once it is on the disk.
   *
   * @throws RuntimeError `STORE_APPEND_FAILED`
   */
  append(line: ResultsLine): Promise<void> {
    const written = this.#tail.then(async () => {
      try {
        await this.#handle.appendFile(`${JSON.stringify(line)}\n`)
        await this.#handle.datasync()
      } catch (thrown) {
        throw new RuntimeError('STORE_APPEND_FAILED', `${this.#file} could not be written: ${messageOf(thrown)}.`)
      }
      this.#gathered.add(line)
    })
    // After a failure a line may be half there: nothing may follow it.
    this.#tail = written
    written.catch(() => {})
    return written
  }

  /** Closes the file and releases its lock, so that another process can continue. */
  async close(): Promise<void> {
    await this.#tail.catch(() => {})
    await this.#handle.close()
    await this.#lock.release()
  }
}

const placeOf = ({ docker }: EvaluationHeader): string =>
  docker === undefined ? 'on this machine (without --docker)' : `in containers (--docker ${docker})`

/** Lists the changes since an evaluation began that would make old and new results incomparable: a sentence each. Pure. */
export function changesSince(before: EvaluationHeader, now: EvaluationHeader): readonly string[] {
  const names = (header: EvaluationHeader): string => header.arms.map(({ name }) => name).join(', ')
  const said: string[] = []
  const compare = (what: string, old: string | number | undefined, other: string | number | undefined): void => {
    if (old !== other) said.push(`${what} was ${old ?? 'none'} and is ${other ?? 'none'}`)
  }
  compare('the suite', before.suite.name, now.suite.name)
  if (before.suite.name === now.suite.name && before.suite.digest !== now.suite.digest)
    said.push(`the files of the suite ${now.suite.name} have changed`)
  compare('the list of arms', names(before), names(now))
  if (names(before) === names(now))
    for (const [index, { name, model }] of before.arms.entries())
      compare(`the model of the arm ${name}`, model, now.arms[index]!.model)
  compare('the number of trials', before.trials, now.trials)
  compare('the seed', before.seed, now.seed)
  compare('the judge', before.judge, now.judge)
  if (before.docker !== now.docker)
    said.push(`commands of tasks that name no image ran ${placeOf(before)}, and would run ${placeOf(now)}`)
  return said
}
