import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { LogQuery } from '../../../src/protocol/ports/logPages.ts'
import { checkMetadata, type Metadata } from '../../../src/protocol/metadata.ts'
import { checkAgentId } from '../../../src/protocol/ids.ts'
import { checkStore } from '../../../src/protocol/ports/checkStore.ts'
import { isErasable, type ErasableStore, type Store, type StoreLease } from '../../../src/protocol/ports/store.ts'
import { copyLog, isCopied } from './copyLog.ts'
import { allLogs, pagesOf, type Pages } from '../../stores/src/logPages.ts'

/** Selection of the sessions to copy, and how they are copied. */
export interface CopyOptions {
  /** Ids of the sessions to copy. Default: all. */
  readonly ids?: readonly string[]
  /** Copies only sessions whose metadata has all of these values. */
  readonly metadata?: Metadata
  /** True to delete each session from the source once it has been read back from the other store. */
  readonly isMove?: boolean
  /** Called after each log. */
  onLog?(progress: CopyProgress): void
}

/** Progress of a copy. */
export interface CopyProgress {
  readonly agentId: string
  readonly done: number
  readonly total: number
}

/** Result of a copy. */
export interface CopiedSessions {
  /** Ids of the logs that were copied or completed. */
  readonly copied: readonly string[]
  /** Ids of the logs that the other store already had in full. */
  readonly same: readonly string[]
  /** Ids of the logs that were deleted from the source. */
  readonly moved: readonly string[]
  /** Ids of the logs that were not deleted because forks that stay in the source share them. */
  readonly kept: readonly string[]
  /** Sessions that were neither copied nor moved, and why. */
  readonly refused: readonly { readonly agentId: string; readonly error: RuntimeError }[]
  /** Number of file contents that the other store cannot keep. */
  readonly lost: number
}

/** A root agent with all agents below it. They are copied together. */
interface Tree {
  readonly root: string
  readonly ids: readonly string[]
  /** Roots of the trees from which its logs were forked. */
  readonly sources: readonly string[]
  /** True if the tree was asked for, false if it is only needed as the source of another tree. */
  isWanted: boolean
}

/**
 * Copies sessions to another store, or moves them, each with its sub-agents and the sources from which it was forked. An identical log in
 * the other store is left alone, and a partial one is completed, so an interrupted copy can simply be repeated. Sessions that are open,
 * or have a different log there, are skipped and reported.
 *
 * @throws RuntimeError `AGENT_NOT_FOUND` for an id without a log, `INVALID_ID`, `INVALID_OPTION`, and the error of a store that fails.
 */
export async function copySessions(from: Store, to: Store, options: CopyOptions = {}): Promise<CopiedSessions> {
  checkStore(to)
  const { isMove = false, onLog } = options
  if (isMove && !isErasable(from))
    throw new RuntimeError('STORE_DELETE_FAILED', 'Sessions cannot be moved out of a store that has no delete().')
  const trees = await treesOf(from, options)
  const report = { copied: [], same: [], moved: [], kept: [], refused: [], lost: 0 } as Report
  const failed = new Set<string>()
  const total = trees.reduce((sum, { ids }) => sum + ids.length, 0)
  let done = 0
  const progress = (agentId: string): void => {
    done += 1
    onLog?.({ agentId, done, total })
  }
  // Sources go first, so that at no time there is a fork without what it shares.
  for (const tree of trees) {
    const missing = tree.sources.find((source) => failed.has(source))
    try {
      if (missing !== undefined) throw new RuntimeError('SESSION_IN_USE', `"${missing}" has to be there before it.`)
      await copyTree(from, to, tree, { report, progress })
    } catch (thrown) {
      if (!(thrown instanceof RuntimeError) || !isOfOneLog(thrown)) throw thrown
      failed.add(tree.root)
      report.refused.push({ agentId: tree.root, error: thrown })
    }
  }
  if (isMove && isErasable(from)) {
    const going = trees.filter(({ root, isWanted }) => isWanted && !failed.has(root))
    await removeTrees(from, to, going, report)
  }
  return report
}

type Report = {
  -readonly [K in keyof CopiedSessions]: CopiedSessions[K] extends readonly (infer I)[] ? I[] : CopiedSessions[K]
}

/** Returns true if an error concerns one session only, so that the others can still be copied. */
const isOfOneLog = ({ code }: RuntimeError): boolean =>
  code === 'STORE_LOCKED' ||
  code === 'AGENT_EXISTS' ||
  code === 'LOG_CORRUPT' ||
  code === 'LOG_VERSION' ||
  code === 'RECORD_TOO_LARGE' ||
  code === 'SESSION_IN_USE'

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

/** Returns the requested trees and those they need, each after the trees from which it was forked. */
async function treesOf(from: Store, { ids, metadata = {} }: CopyOptions): Promise<Tree[]> {
  checkMetadata('copySessions', metadata)
  const pages = pagesOf(from)
  const query: LogQuery = { metadata, ...(ids === undefined ? {} : { ids }) }
  for (const id of ids ?? []) checkAgentId(id)
  const wanted = await collected(allLogs(pages, { ...query, limit: 1_000 }))
  const missing = ids?.filter((id) => !wanted.some((log) => log.id === id)) ?? []
  if (missing.length > 0 && Object.keys(metadata).length === 0)
    throw new RuntimeError('AGENT_NOT_FOUND', `There is no session "${missing.join('", "')}" there.`)
  const trees = new Map<string, Tree>()
  for (const { id, origin } of wanted) await addTree(pages, trees, origin?.path[0] ?? id, true)
  return [...trees.values()]
}

async function addTree(pages: Pages, trees: Map<string, Tree>, root: string, isWanted: boolean): Promise<void> {
  const known = trees.get(root)
  if (known !== undefined) {
    known.isWanted ||= isWanted
    return
  }
  const logs = await collected(allLogs(pages, { within: [root], limit: 1_000 }))
  const sources = new Set<string>()
  for (const { origin } of logs) {
    const source = origin?.forkedFrom
    if (source === undefined || logs.some(({ id }) => id === source)) continue
    const [log] = (await pages({ ids: [source], limit: 1 })).logs
    if (log !== undefined) sources.add(log.origin?.path[0] ?? source)
  }
  sources.delete(root)
  for (const source of sources) await addTree(pages, trees, source, false)
  const ids = logs.map(({ id }) => id).toSorted((a, b) => (a === root ? -1 : b === root ? 1 : a < b ? -1 : 1))
  if (!trees.has(root)) trees.set(root, { root, ids, sources: [...sources], isWanted })
}

/** Copies the logs of a tree while they have no writer. */
async function copyTree(
  from: Store,
  to: Store,
  { ids }: Tree,
  { report, progress }: { readonly report: Report; progress(agentId: string): void },
): Promise<void> {
  const leases: StoreLease[] = []
  try {
    for (const id of ids) leases.push(await from.open(id))
    for (const id of ids) {
      const { records, lost } = await copyLog(from, to, id)
      report[records === 0 ? 'same' : 'copied'].push(id)
      report.lost += lost
      progress(id)
    }
  } finally {
    await Promise.all(leases.map((lease) => lease.release()))
  }
}

/** Deletes trees that the other store has, forks before the logs they share. */
async function removeTrees(from: ErasableStore, to: Store, trees: readonly Tree[], report: Report): Promise<void> {
  for (const { ids } of trees.toReversed()) {
    if (await isShared(from, ids)) {
      report.kept.push(...ids)
      continue
    }
    for (const id of ids.toReversed()) {
      try {
        if (!(await isCopied(from, to, id)))
          throw new RuntimeError('STORE_DELETE_FAILED', `"${id}" is not the same there, and stays where it was.`)
        await from.delete(id)
        report.moved.push(id)
      } catch (thrown) {
        if (!(thrown instanceof RuntimeError)) throw thrown
        report.refused.push({ agentId: id, error: thrown })
        break
      }
    }
  }
}

/** Returns true if a fork outside these sessions shares one of their logs. */
async function isShared(from: Store, ids: readonly string[]): Promise<boolean> {
  const pages = pagesOf(from)
  for (const id of ids)
    for await (const fork of allLogs(pages, { forkedFrom: id })) if (!ids.includes(fork.id)) return true
  return false
}
