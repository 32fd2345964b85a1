import { existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { hasCode, messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import {
  isMemoryScope,
  type Memory,
  type MemoryDeletion,
  type MemoryFilter,
  type MemoryProblem,
  type MemoryRecord,
  type MemoryScope,
} from '../../../../src/protocol/ports/memory.ts'
import { checkDeletion, checkedMemory, checkFilter, fitsFilter, mergeMemory } from './memoryRules.ts'
import { lockFile, type FileLock } from '../../../stores/src/lockFile.ts'
import { syncAndClose, syncFolder } from '../../../stores/src/syncFolder.ts'
import {
  emptyFile,
  fileNameOf,
  isBare,
  isMeant,
  isWhole,
  oldFileNameOf,
  parseFile,
  printFile,
  recordsIn,
  scopeIn,
  withoutMeant,
  withRecord,
  type MemoryFile,
} from './memoryFile.ts'
import { Newest } from './newest.ts'
import { WordIndex } from './wordIndex.ts'

/** Orders records by their last change, the newest first; those that changed at once by their ids, so that the order is always the same. */
const byNewest = (a: MemoryRecord, b: MemoryRecord): number =>
  b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/** Returns as many items as the filter's `limit` allows. */
const limited = <T>(items: readonly T[], { limit }: MemoryFilter): readonly T[] =>
  limit === undefined ? items : items.slice(0, limit)

/** A file as it was when it was last read. */
interface Read {
  /** Value that differs once the file has changed. */
  readonly stamp: string
  readonly file: MemoryFile
  readonly index: WordIndex
}

/** State of a scope without a file. */
const nothing: Read = { stamp: '', file: { head: [], sections: [] }, index: new WordIndex() }

/** Maximum size of a file in bytes. A larger one was not written by a memory. */
const maxFileBytes = 64 * 1024 * 1024
/** Maximum number of parsed files that are cached: each takes many times its size, and every user may have one. */
const mostRead = 64
/** Maximum time to wait for another process to release the lock of a file, in milliseconds. */
const patienceMs = 10_000

/**
 * A memory in Markdown files, one for each scope, to be read and edited by people: a section for each record. A
 * section that was made unreadable is kept and reported by `problems` until its scope is deleted. Several
 * processes may use a folder at once. Searching needs the package `minisearch`.
 *
 * Anyone who may write to the folder decides what agents take for known: keep it out of the reach of their tools.
 *
 * @throws RuntimeError `INVALID_OPTION` if `dir` is no path.
 */
export function markdownMemory(dir: string): Memory {
  if (typeof dir !== 'string' || dir === '') throw new RuntimeError('INVALID_OPTION', 'markdownMemory: give a folder.')
  return new MarkdownMemory(dir)
}

class MarkdownMemory implements Memory {
  readonly #dir: string
  readonly #read = new Newest<MemoryScope, Read>(mostRead)
  /** Last change of each scope, for which the next one waits. */
  readonly #changes = new Map<MemoryScope, Promise<unknown>>()

  constructor(dir: string) {
    this.#dir = dir
  }

  async put(record: MemoryRecord): Promise<MemoryRecord> {
    const { scope, ...fields } = checkedMemory(record)
    let kept = { ...fields, scope }
    await this.#change(scope, (file) => {
      const known = recordsIn(file).find(({ id }) => id === record.id)
      kept = mergeMemory(known, { ...fields, scope })
      return known !== undefined && JSON.stringify(known) === JSON.stringify(kept) ? file : withRecord(file, kept)
    })
    return kept
  }

  async search(query: string, filter: MemoryFilter = {}): Promise<readonly MemoryRecord[]> {
    checkFilter(filter, query)
    const found = await Promise.all(
      (await this.#files(filter)).map(async ({ file, index }) => {
        const records = new Map(recordsIn(file).map((record) => [record.id, record]))
        return (await index.search(query)).flatMap(({ id, score }) => {
          const record = records.get(id)
          return record === undefined || !fitsFilter(record, filter) ? [] : [{ record, score }]
        })
      }),
    )
    const best = found.flat().toSorted((a, b) => b.score - a.score || byNewest(a.record, b.record))
    return limited(
      best.map(({ record }) => record),
      filter,
    )
  }

  async list(filter: MemoryFilter = {}): Promise<readonly MemoryRecord[]> {
    checkFilter(filter)
    const records = (await this.#files(filter)).flatMap(({ file }) => recordsIn(file))
    return limited(records.filter((record) => fitsFilter(record, filter)).toSorted(byNewest), filter)
  }

  async delete(which: MemoryDeletion): Promise<number> {
    checkDeletion(which)
    let count = 0
    for (const scope of which.scope === undefined ? await this.#scopes() : [which.scope]) {
      const read = await this.#load(scope)
      const meant = (file: MemoryFile): number => file.sections.filter((each) => isMeant(each, which)).length
      const isDue = isWhole(which)
        ? // A process may have died while it wrote the first record.
          read !== nothing || existsSync(draftOf(await this.#pathOf(scope)))
        : meant(read.file) > 0
      if (!isDue) continue
      await this.#change(scope, (file) => {
        count += meant(file)
        return withoutMeant(file, scope, which)
      })
    }
    if (isWhole(which)) await this.#checkNowhereElse(which.scope!)
    return count
  }

  /** Rejects if memories of a scope to be deleted are also in a renamed or copied file, which is not read. */
  async #checkNowhereElse(scope: MemoryScope): Promise<void> {
    for (const name of await this.#names()) {
      if ((await this.#scopeOf(name)) !== scope || (await this.#nameOf(scope)) === name) continue
      throw failed(
        join(this.#dir, name),
        new Error(`it is of ${scope} too, and was not deleted, as its name is another`),
      )
    }
  }

  async problems(): Promise<readonly MemoryProblem[]> {
    const problems: MemoryProblem[] = []
    for (const name of await this.#names()) {
      const path = join(this.#dir, name)
      const scope = await this.#scopeOf(name)
      if (scope === undefined) {
        problems.push({ place: path, problem: 'it is no file of a memory: it must begin with "# Memory of <scope>"' })
        continue
      }
      const own = await this.#nameOf(scope)
      if (own !== name) problems.push({ place: path, problem: `that of ${scope} must be named ${own}` })
      else {
        const { file } = await this.#load(scope)
        for (const { line, problem } of file.sections)
          if (problem !== undefined) problems.push({ place: `${path}:${line}`, problem })
      }
    }
    return problems
  }

  /** Returns the files that may hold records which match a filter. */
  async #files({ scopes }: MemoryFilter): Promise<readonly Read[]> {
    const wanted = scopes === undefined ? await this.#scopes() : [...new Set(scopes)]
    return Promise.all(wanted.map((scope) => this.#load(scope)))
  }

  async #names(): Promise<readonly string[]> {
    try {
      return (await readdir(this.#dir)).filter((name) => name.endsWith('.md')).toSorted()
    } catch (thrown) {
      if (hasCode(thrown, 'ENOENT')) return []
      throw failed(this.#dir, thrown)
    }
  }

  async #scopes(): Promise<readonly MemoryScope[]> {
    const scopes = await Promise.all(
      (await this.#names()).map(async (name) => [name, await this.#scopeOf(name)] as const),
    )
    const own = await Promise.all(
      scopes.map(async ([name, scope]) => (scope !== undefined && (await this.#nameOf(scope)) === name ? [scope] : [])),
    )
    return own.flat()
  }

  /** Returns the file name of a scope. An existing file with the older name keeps it. */
  async #nameOf(scope: MemoryScope): Promise<string> {
    const [name, old] = [fileNameOf(scope), oldFileNameOf(scope)]
    try {
      await stat(join(this.#dir, name))
      return name
    } catch (thrown) {
      if (!hasCode(thrown, 'ENOENT')) throw failed(join(this.#dir, name), thrown)
    }
    return (await this.#scopeOf(old)) === scope ? old : name
  }

  async #scopeOf(name: string): Promise<MemoryScope | undefined> {
    const path = join(this.#dir, name)
    try {
      const handle = await open(path, 'r')
      try {
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(2_048), 0, 2_048, 0)
        const [first = ''] = buffer
          .toString('utf8', 0, bytesRead)
          .replace(/^\uFEFF/, '')
          .split('\n')
        const scope = scopeIn(first)
        return isMemoryScope(scope) ? scope : undefined
      } finally {
        await handle.close()
      }
    } catch (thrown) {
      if (hasCode(thrown, 'ENOENT')) return undefined
      throw failed(path, thrown)
    }
  }

  async #pathOf(scope: MemoryScope): Promise<string> {
    return join(this.#dir, await this.#nameOf(scope))
  }

  /** Returns the present file of a scope. */
  async #load(scope: MemoryScope): Promise<Read> {
    const path = await this.#pathOf(scope)
    try {
      const { mtimeMs, size, ino } = await stat(path)
      const known = this.#read.get(scope)
      const stamp = `${mtimeMs}/${size}/${ino}`
      if (known?.stamp === stamp) return known
      if (size > maxFileBytes) throw new Error(`it has ${size} bytes, more than ${maxFileBytes}`)
      const bytes = await readFile(path)
      // What is no text must not be written back as something else.
      const content = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
      const file = parseFile(content, scope, Math.round(mtimeMs), known?.file)
      const index = known?.index ?? new WordIndex()
      index.hold(recordsIn(file))
      const read = { stamp, file, index }
      this.#read.set(scope, read)
      return read
    } catch (thrown) {
      if (hasCode(thrown, 'ENOENT')) return nothing
      throw failed(path, thrown)
    }
  }

  /** Changes the file of a scope, one change at a time across all processes. */
  #change(scope: MemoryScope, change: (file: MemoryFile) => MemoryFile): Promise<void> {
    const before = this.#changes.get(scope) ?? Promise.resolve()
    const done = before.then(
      () => this.#write(scope, change),
      () => this.#write(scope, change),
    )
    const settled = done.catch(() => {})
    this.#changes.set(scope, settled)
    void settled.then(() => {
      if (this.#changes.get(scope) === settled) this.#changes.delete(scope)
    })
    return done
  }

  async #write(scope: MemoryScope, change: (file: MemoryFile) => MemoryFile): Promise<void> {
    const path = await this.#pathOf(scope)
    try {
      // What is remembered of people is nobody else's.
      await mkdir(this.#dir, { recursive: true, mode: 0o700 })
      const lock = await whenFree(`${path}.lock`)
      try {
        // Somebody may have removed a file with an older name in the meantime: the new one has another lock.
        if ((await this.#pathOf(scope)) !== path) return await this.#write(scope, change)
        const read = await this.#load(scope)
        const file = read === nothing ? emptyFile(scope) : read.file
        if (file.problem !== undefined) throw new Error(file.problem)
        const changed = change(file)
        if (changed === file) return
        // Another process may have removed it; a draft is of one that died.
        if (isBare(changed, scope)) for (const gone of [path, draftOf(path)]) await rm(gone, { force: true })
        else await replaceFile(path, printFile(changed))
        await syncFolder(this.#dir)
      } finally {
        await lock.release()
      }
    } catch (thrown) {
      throw failed(path, thrown)
    }
  }
}

const draftOf = (path: string): string => `${path}.new`

/** Replaces a file's content atomically: a reader sees the old content or the new. */
async function replaceFile(path: string, content: string): Promise<void> {
  // Whoever holds the lock may overwrite what a process left that died here.
  const draft = draftOf(path)
  const handle = await open(draft, 'w', 0o600)
  try {
    await handle.writeFile(content)
  } finally {
    await syncAndClose(handle)
  }
  await rename(draft, path)
}

/** Acquires the lock once its holder releases it. */
async function whenFree(path: string): Promise<FileLock> {
  const until = performance.now() + patienceMs
  for (let pauseMs = 2; ; pauseMs = Math.min(50, pauseMs * 1.5)) {
    try {
      return await lockFile(path)
    } catch (thrown) {
      if (!hasCode(thrown, 'STORE_LOCKED') || performance.now() > until) throw thrown
    }
    await wait(pauseMs * (0.5 + Math.random()))
  }
}

function failed(path: string, thrown: unknown): RuntimeError {
  if (thrown instanceof RuntimeError && thrown.code.startsWith('MEMORY')) return thrown
  return new RuntimeError('MEMORY_FAILED', `The memory at ${path} cannot be used: ${messageOf(thrown)}.`, {
    cause: thrown,
  })
}
