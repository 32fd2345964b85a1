import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { fromBase64 } from '../../../../src/protocol/text/fromBase64.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { checkAgentId } from '../../../../src/protocol/ids.ts'
import { keptKey } from '../../../sessions/src/exportLines.ts'
import { seqFrom } from '../../../stores/src/rules/appendChecks.ts'
import { pageOf } from '../../../stores/src/rules/logPages.ts'
import type { PageFile, PageIndex, PageLog } from '../sessionPages/sessionFile.ts'
import { FileProblem } from './fileProblem.ts'
import { unpackSession, type UnpackedSession } from './unpackSession.ts'

/** Loads the content of a session's file. Rejects when there is no such file. */
export type LoadFile = (file: PageFile) => Promise<unknown>

/** A log, and the file that has it. */
interface Place {
  readonly file: PageFile
  readonly log: PageLog
}

const readOnly = (): RuntimeError =>
  new RuntimeError('STORE_OPEN_FAILED', 'This page shows recorded sessions: nothing can be written.')

/** Returns the name of a session's place for people. */
export const placeOf = ({ file }: Pick<PageFile, 'file'>): string =>
  file === '' ? 'The session in this page' : `sessions/${file}`

/** Limit of the sessions that are kept in memory; the one that was read first is dropped first. */
const mostKept = 12

/**
 * The sessions beside a page, as a read-only store. Lists take them from the page's index; a file is loaded when a log in it is read. A
 * damaged file fails the read with an error that names it, which `onTrouble` receives too.
 */
export class FileLogs implements Store {
  readonly #load: LoadFile
  readonly #onTrouble: (file: PageFile, what: string) => void
  readonly #places = new Map<string, Place>()
  readonly #loaded = new Map<PageFile, Promise<UnpackedSession>>()
  readonly snapshots: NonNullable<Store['snapshots']>

  constructor(
    { files }: PageIndex,
    { load, onTrouble }: { readonly load: LoadFile; onTrouble(file: PageFile, what: string): void },
  ) {
    this.#load = load
    this.#onTrouble = onTrouble
    for (const file of files)
      for (const log of file.logs) {
        // All of a log rather than the part that a fork shares.
        const known = this.#places.get(log.id)
        if (known === undefined || (known.log.isPast === true && log.isPast !== true))
          this.#places.set(log.id, { file, log })
      }
    this.snapshots = {
      maxFileBytes: 0,
      put: () => Promise.reject(readOnly()),
      get: async (agentId, id) => {
        const data = (await this.#sessionOf(agentId))?.kept.get(keptKey(agentId, id))
        return data === undefined ? undefined : fromBase64(data)
      },
    }
  }

  /** Returns the file that a log is in. */
  fileOf(agentId: string): PageFile | undefined {
    return this.#places.get(agentId)?.file
  }

  async *read(agentId: string, fromSeq = 1, limit = Infinity): AsyncGenerator<LogRecord, void, undefined> {
    checkAgentId(agentId)
    const log = (await this.#sessionOf(agentId))?.logs.get(agentId) ?? []
    const start = seqFrom(fromSeq, log.length) - 1
    yield* log.slice(start, start + limit)
  }

  async list(): Promise<readonly string[]> {
    return [...this.#places.keys()].toSorted()
  }

  async stat(agentId: string): ReturnType<NonNullable<Store['stat']>> {
    const log = this.#places.get(agentId)?.log
    return log === undefined ? undefined : { size: log.size, writtenAt: log.writtenAt }
  }

  async page(query: Parameters<NonNullable<Store['page']>>[0]): ReturnType<NonNullable<Store['page']>> {
    const entries = [...this.#places.values()].map(({ log: { id, size, writtenAt, origin } }) => ({
      id,
      size,
      writtenAt,
      origin,
    }))
    return pageOf(entries, query)
  }

  append(): Promise<void> {
    return Promise.reject(readOnly())
  }

  open(): Promise<never> {
    return Promise.reject(readOnly())
  }

  async close(): Promise<void> {
    this.#loaded.clear()
  }

  async #sessionOf(agentId: string): Promise<UnpackedSession | undefined> {
    const file = this.#places.get(agentId)?.file
    if (file === undefined) return undefined
    const loaded = this.#loaded.get(file) ?? this.#open(file)
    this.#loaded.delete(file)
    this.#loaded.set(file, loaded)
    if (this.#loaded.size > mostKept) this.#loaded.delete(this.#loaded.keys().next().value!)
    return await loaded
  }

  async #open(file: PageFile): Promise<UnpackedSession> {
    try {
      return await unpackSession(placeOf(file), await this.#load(file))
    } catch (thrown) {
      this.#loaded.delete(file)
      if (!(thrown instanceof FileProblem)) throw thrown
      this.#onTrouble(file, thrown.message)
      throw thrown.toRuntimeError()
    }
  }
}
