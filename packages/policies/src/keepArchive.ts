import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { digestLine } from '../../../src/conversation/brakes/fold/foldLine.ts'
import { oneLine } from '../../../src/protocol/text/cutMiddle.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { recallHint, stepsOfPart } from './hiddenSteps.ts'
import type { Keeper } from '../../../src/actors/define/policy.ts'

/** Destination of archives other than a folder. */
export interface ArchivePort {
  /**
   * Stores the lines under this name. Once it resolves, they have replaced earlier ones. When it rejects, the earlier
   * ones are still there. Stops when `signal` aborts. May resolve to their location, for the agent's memo.
   */
  write(name: string, lines: AsyncIterable<string>, signal: AbortSignal): Promise<string | void>
}

/**
 * Writes the agent's session to a file before any of its steps is hidden, as `exportSession` does: `importSession` reads it. Each agent has
 * one file, which the next archive replaces: a log only grows, so the newer one holds all that the older did. Another agent of the same id
 * has another file. The memo says where it is. When it cannot be written, nothing is hidden.
 *
 * @throws RuntimeError `INVALID_OPTION`.
 */
export function archive(to: string | ArchivePort): Keeper {
  const isFolder = typeof to === 'string'
  if (isFolder ? to.trim() === '' : typeof to?.write !== 'function')
    throw new RuntimeError('INVALID_OPTION', 'keep.archive: give a folder, or a port with the method "write".')
  const port = isFolder ? folderPort(to) : to
  return Object.freeze<Keeper>({
    name: 'archive()',
    async keep(part, at) {
      const source = at.exportSession()[Symbol.asyncIterator]()
      try {
        const begin = await firstLines(source)
        const name = nameOf(at.agentId, begin)
        const place = (await port.write(name, linesOf(begin, source), at.signal)) ?? name
        if (typeof place !== 'string') throw new RuntimeError('INVALID_OPTION', wrongPlace)
        const line = digestLine(stepsOfPart(part, at))
        return { as: 'memo', memo: `${line}\nArchived in ${oneLine(place, 500)}${recallHint(at)}` }
      } finally {
        await source.return?.()
      }
    },
  })
}

const wrongPlace = 'keep.archive: write: resolve to where the archive is, as text, or to nothing.'

/** Number of lines that identify a log: the header, and the first record with the agent's time of creation. */
const tellingLines = 2

async function firstLines(source: AsyncIterator<string>): Promise<string[]> {
  const lines: string[] = []
  while (lines.length < tellingLines) {
    const next = await source.next()
    if (next.done === true) break
    lines.push(next.value)
  }
  return lines
}

const nameOf = (agentId: string, begin: readonly string[]): string =>
  `${agentId}-${createHash('sha256').update(begin.join('')).digest('hex').slice(0, 8)}.jsonl`

async function* linesOf(begin: readonly string[], rest: AsyncIterator<string>): AsyncGenerator<string> {
  yield* begin
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
}

/** Characters to collect for one write, because records are short and writes are slow. */
const batchChars = 65_536

const folderPort = (folder: string): ArchivePort => ({
  async write(name, lines, signal) {
    await mkdir(folder, { recursive: true })
    const file = join(folder, name)
    const temporary = join(folder, `.${name}.${randomUUID()}.tmp`)
    try {
      const handle = await open(temporary, 'wx')
      try {
        let batch = ''
        for await (const line of lines) {
          batch += line
          if (batch.length < batchChars) continue
          signal.throwIfAborted()
          await handle.appendFile(batch)
          batch = ''
        }
        await handle.appendFile(batch)
        await handle.sync()
      } finally {
        await handle.close()
      }
      signal.throwIfAborted()
      await rename(temporary, file)
    } catch (thrown) {
      await rm(temporary, { force: true })
      throw thrown
    }
    return file
  },
})
