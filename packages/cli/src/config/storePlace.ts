import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Logger } from '../../../../src/protocol/ports/logger.ts'
import type { ErasableStore } from '../../../../src/protocol/ports/store.ts'
import type { PostgresStoreOptions } from '../../../postgres/src/postgresOptions.ts'

/** Place of logs: a folder, an SQLite file or a database. */
export interface StorePlace {
  /** Address without the password, valid from any folder. */
  readonly address: string
  /** Address with the password. */
  readonly typed: string
  /** Name of the place in messages. */
  readonly name: string
  /** Returns the location of an agent's log, for a person. */
  logOf(agentId: string): string
  /** Folder for files other than logs; `undefined` if the place has none. */
  readonly folder?: string
  /** Returns true if the place holds anything; `undefined` if only a server could tell. */
  isThere(): boolean | undefined
  /**
   * Opens the store. Nothing is created before the first write, and a store's code is loaded only when it is opened. `logger`: told when a server
   * cannot be reached. `postgres`: settings of a database.
   */
  open(logger?: Logger, postgres?: PostgresStoreOptions): Promise<ErasableStore>
}

interface Scheme {
  readonly form: string
  /** Returns the place of an address. `rest`: the part after the scheme's name and colon. */
  place(rest: string, base: string): StorePlace
}

/** Returns the place of the logs in a folder. */
export function folderPlace(path: string, base: string): StorePlace {
  const folder = resolve(base, path)
  return {
    address: folder,
    typed: folder,
    name: folder,
    folder,
    logOf: (agentId) => join(folder, `${agentId}.jsonl`),
    isThere: () => statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true,
    open: async () => (await import('../../../stores/src/fileStore.ts')).fileStore(folder),
  }
}

function sqlitePlace(path: string, base: string): StorePlace {
  if (path.trim() === '') throw new RuntimeError('INVALID_OPTION', 'After "sqlite:" goes the path of a file.')
  const file = resolve(base, path)
  return {
    address: `sqlite:${file}`,
    typed: `sqlite:${file}`,
    name: file,
    logOf: () => file,
    isThere: () => statSync(file, { throwIfNoEntry: false }) !== undefined,
    open: async () => (await import('../../../sqlite/src/sqliteStore.ts')).sqliteStore(file),
  }
}

function postgresPlace(rest: string): StorePlace {
  const url = `postgres:${rest}`
  const name = withoutPassword(url)
  return {
    address: name,
    typed: url,
    name,
    logOf: () => name,
    isThere: () => undefined,
    open: async (logger, settings = {}) =>
      (await import('../../../postgres/src/postgresStore.ts')).postgresStore(url, {
        ...settings,
        ...(logger === undefined ? {} : { logger }),
      }),
  }
}

/** Stores by the scheme of their addresses. */
const schemes: { readonly [scheme: string]: Scheme } = {
  file: { form: 'a folder', place: folderPlace },
  sqlite: { form: 'sqlite:<file>', place: sqlitePlace },
  postgres: { form: 'postgres://…', place: postgresPlace },
  postgresql: { form: 'postgres://…', place: postgresPlace },
}

/** Notations of an address. */
export const storeForms = 'a folder, sqlite:<file> or postgres://…'

// A letter alone is a drive.
const schemed = /^([A-Za-z][A-Za-z0-9+.-]+):(.*)$/s

/**
 * Returns the place that an address names; relative paths are below `base`.
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export function storePlace(address: string, base: string): StorePlace {
  const [, name, rest = ''] = schemed.exec(address) ?? []
  if (name === undefined) return folderPlace(address, base)
  const scheme = Object.hasOwn(schemes, name.toLowerCase()) ? schemes[name.toLowerCase()] : undefined
  if (scheme !== undefined) return scheme.place(rest, base)
  throw new RuntimeError('INVALID_OPTION', `There is no kind of store "${oneWord(name)}": give ${storeForms}.`)
}

/** Returns an address without its password. */
export const shownAddress = (address: string): string =>
  /^postgres(ql)?:/i.test(address) ? withoutPassword(address) : address

const oneWord = (name: string): string => name.slice(0, 40)

function withoutPassword(text: string): string {
  try {
    const url = new URL(text)
    url.password = ''
    url.searchParams.delete('password')
    return url.href
  } catch {
    // Said again, with what is wrong, when it is opened.
    return 'postgres://…'
  }
}
