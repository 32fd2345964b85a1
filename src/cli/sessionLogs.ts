import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { RuntimeError } from '../protocol/errors.ts'
import type { ErasableStore } from '../protocol/store.ts'
import { createdRecord } from '../sessions/readHistory.ts'
import { loadSession, type LoadedSession } from '../sessions/loadSession.ts'
import { checkAgentId } from '../protocol/ids.ts'
import { fileStore } from '../stores/fileStore.ts'
import { type CliHost, exitCodes } from './cliHost.ts'
import type { Invocation } from './commandLine.ts'
import { nearestWord } from './nearestWord.ts'

/** A folder of logs, and the store that it is. */
export interface SessionLogs {
  readonly folder: string
  readonly store: ErasableStore
}

export type LogPlace = Pick<Invocation, 'dir' | 'logs'>

/**
 * The logs in the folder of `--logs`, else in `.escapement` of that of `--dir`. Makes nothing; a folder without logs has none.
 *
 * @throws RuntimeError `INVALID_OPTION` when the folder that was named is none.
 */
export function openLogs({ dir = '.', logs }: LogPlace): SessionLogs {
  const [option, named] = logs === undefined ? ['--dir', dir] : ['--logs', logs]
  if (statSync(named, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new RuntimeError('INVALID_OPTION', `${option} "${named}" is not an existing folder.`)
  const folder = logs === undefined ? join(resolve(dir), '.escapement') : resolve(logs)
  return { folder, store: fileStore(folder) }
}

/**
 * Makes sure that there is a log of this id, whether or not it can be read.
 *
 * @throws RuntimeError `INVALID_ID`, `AGENT_NOT_FOUND` naming the id that was probably meant.
 */
export async function checkSession({ folder, store }: SessionLogs, id: string): Promise<void> {
  checkAgentId(id)
  const ids = await store.list()
  if (!ids.includes(id))
    throw new RuntimeError('AGENT_NOT_FOUND', `There is no session "${id}" in ${folder}. ${hintFor(id, ids)}`)
}

function hintFor(id: string, ids: readonly string[]): string {
  const begun = ids.filter((other) => other.startsWith(id))
  const meant = nearestWord(id, ids) ?? (begun.length === 1 ? begun[0] : undefined)
  if (meant !== undefined) return `Did you mean "${meant}"?`
  return ids.length === 0 ? 'It has none.' : `"escapement sessions" lists the ${ids.length} there are.`
}

/** Reads a session whole. @throws RuntimeError as `checkSession` and `loadSession` do. */
export async function readSession(logs: SessionLogs, id: string): Promise<LoadedSession> {
  await checkSession(logs, id)
  return loadSession(logs.store, id)
}

/** Ids of the sessions that were forked from this one's own log, as far as logs can be read. */
export async function forksOf({ store }: SessionLogs, id: string): Promise<string[]> {
  const forks: string[] = []
  for (const other of await store.list()) {
    try {
      if ((await createdRecord(store, other))?.forkedFrom?.agentId === id) forks.push(other)
    } catch {
      // Nothing is known about a log that cannot be read.
    }
  }
  return forks
}

/** Whether to print data for a program: on request, or when nobody watches. */
export const wantsJson = ({ json }: Pick<Invocation, 'json'>, { stdout }: CliHost): boolean => json || !stdout.isTTY

/** Columns that lines may take. */
export const columnsOf = ({ stdout }: CliHost): number =>
  stdout.isTTY && stdout.columns > 0 ? stdout.columns : Infinity

/** A word as a shell takes it. */
const quoted = (word: string): string => (/^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)

/** The command that continues a session, for the same folders. */
export function howToResume(id: string, { dir, logs }: LogPlace): string {
  const options = Object.entries({ dir, logs }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${quoted(value)}`],
  )
  return ['escapement resume', id, ...options].join(' ')
}

/** Says why a command did nothing, and returns its exit code. */
export function refuse(host: CliHost, why: string, code: number = exitCodes.failed): number {
  host.stderr.write(`escapement: ${why}\n`)
  return code
}

/**
 * A whole number from 0 on, given as the text of an option.
 *
 * @throws RuntimeError `INVALID_OPTION`, naming the text.
 */
export function readCount(option: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new RuntimeError('INVALID_OPTION', `${option} must be a whole number from 0 on; it is "${text}".`)
}
