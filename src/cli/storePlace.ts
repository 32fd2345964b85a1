import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { RuntimeError } from '../protocol/errors.ts'
import type { Logger } from '../protocol/logger.ts'
import type { ErasableStore } from '../protocol/store.ts'

/** Where logs are: a folder, an SQLite file or a database. */
export interface StorePlace {
  /** As it is typed, from any folder; without the password. */
  readonly address: string
  /** The same with the password. */
  readonly typed: string
  /** What messages call it. */
  readonly name: string
  /** Where it has the log of an agent, for a person. */
  logOf(agentId: string): string
  /** A folder for what is no log; `undefined`: it has none. */
  readonly folder?: string
  /** Whether there is anything yet; `undefined`: that takes asking a server. */
  isThere(): boolean | undefined
  /**
   * Opens it, which creates nothing before something is written. The code of a store is loaded when one is opened. `logger`: hears when a server
   * cannot be reached.
   */
  open(logger?: Logger): Promise<ErasableStore>
}

interface Scheme {
  readonly form: string
  /** `rest`: what follows the name of the scheme and its colon. */
  place(rest: string, base: string): StorePlace
}

/** The logs of a folder. */
export function folderPlace(path: string, base: string): StorePlace {
  const folder = resolve(base, path)
  return {
    address: folder,
    typed: folder,
    name: folder,
    folder,
    logOf: (agentId) => join(folder, `${agentId}.jsonl`),
    isThere: () => statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true,
    open: async () => (await import('../stores/fileStore.ts')).fileStore(folder),
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
    open: async () => (await import('../stores/sqlite/sqliteStore.ts')).sqliteStore(file),
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
    open: async (logger) =>
      (await import('../stores/postgres/postgresStore.ts')).postgresStore(url, logger === undefined ? {} : { logger }),
  }
}

/** How a store is named whose address begins so. */
const schemes: { readonly [scheme: string]: Scheme } = {
  file: { form: 'a folder', place: folderPlace },
  sqlite: { form: 'sqlite:<file>', place: sqlitePlace },
  postgres: { form: 'postgres://…', place: postgresPlace },
  postgresql: { form: 'postgres://…', place: postgresPlace },
}

/** The forms an address may have. */
export const storeForms = 'a folder, sqlite:<file> or postgres://…'

// A letter alone is a drive.
const schemed = /^([A-Za-z][A-Za-z0-9+.-]+):(.*)$/s

/**
 * The store of an address; relative paths are below `base`.
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

/** An address as it may be shown. */
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
