import { tell } from '../terminal/wordWrap.ts'
import { join, resolve } from 'node:path'
import { withoutControls } from '../../../charts/src/plainText.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { ErasableStore } from '../../../../src/protocol/ports/store.ts'
import { allLogs, pagesOf } from '../../../stores/src/logPages.ts'
import { checkAgentId } from '../../../../src/protocol/ids.ts'
import { loadConfig, type ConfigWish } from '../config/loadConfig.ts'
import type { LoadedConfig } from '../config/readConfig.ts'
import { type CliHost, exitCodes } from '../cliHost.ts'
import { folderPlace, shownAddress, storePlace, type StorePlace } from '../config/storePlace.ts'
import type { Invocation } from '../commandLine.ts'
import { nearestWord } from '../../../../src/protocol/checks/nearestWord.ts'

/** A place for logs, and its store. */
export interface SessionLogs {
  readonly place: StorePlace
  readonly store: ErasableStore
}

export type LogPlace = Pick<Invocation, 'dir' | 'logs'>

interface OpenLogsOptions {
  readonly mayBeNew?: boolean
}

/**
 * Opens the logs in the store given by `--logs`, or else in that of the configuration, or in `.escapement` under `--dir`. Creates nothing.
 * `mayBeNew`: `--logs` may name a folder that does not exist yet.
 *
 * @throws RuntimeError `INVALID_OPTION` if the folder given by an option does not exist.
 */
export async function openLogs(
  { dir = '.', logs }: LogPlace,
  config?: Pick<LoadedConfig, 'logs'>,
  { mayBeNew = false }: OpenLogsOptions = {},
): Promise<SessionLogs> {
  const base = resolve(dir)
  const named = storePlace(logs ?? config?.logs ?? join(base, '.escapement'), resolve('.'))
  const needed = logs === undefined ? folderPlace(dir, '.') : named
  if (needed.folder !== undefined && needed.isThere() === false && !(mayBeNew && needed === named)) {
    const [option, given] = logs === undefined ? ['--dir', dir] : ['--logs', logs]
    throw new RuntimeError('INVALID_OPTION', `${option} "${given}" is not an existing folder.`)
  }
  if (logs !== undefined && needed.folder === undefined && needed.isThere() === false && !mayBeNew)
    throw new RuntimeError('INVALID_OPTION', `--logs "${logs}": there is no file ${needed.name}.`)
  return { place: named, store: await named.open() }
}

/** Opens the logs of a command, and loads its configuration unless `--logs` makes that needless. @throws RuntimeError as `loadConfig`, `openLogs` */
export const logsFor = async (
  invocation: LogPlace & ConfigWish,
  host: CliHost,
  options?: OpenLogsOptions,
): Promise<SessionLogs> =>
  openLogs(invocation, invocation.logs === undefined ? await loadConfig(invocation, host) : undefined, options)

/**
 * Checks that a log with this id exists, readable or not.
 *
 * @throws RuntimeError `INVALID_ID`, `AGENT_NOT_FOUND` with the most similar id.
 */
export async function checkSession({ place, store }: SessionLogs, id: string): Promise<void> {
  checkAgentId(id)
  if ((await store.stat?.(id)) !== undefined) return
  const ids = await store.list()
  if (!ids.includes(id))
    throw new RuntimeError('AGENT_NOT_FOUND', `There is no session "${id}" in ${place.name}. ${hintFor(id, ids)}`)
}

function hintFor(id: string, ids: readonly string[]): string {
  const begun = ids.filter((other) => other.startsWith(id))
  const meant = nearestWord(id, ids) ?? (begun.length === 1 ? begun[0] : undefined)
  if (meant !== undefined) return `Did you mean "${meant}"?`
  return ids.length === 0 ? 'It has none.' : `"escapement sessions" lists the ${ids.length} there are.`
}

/** Returns the ids of the sessions forked from this one's own log. Unreadable logs are skipped. */
export async function forksOf({ store }: SessionLogs, id: string): Promise<string[]> {
  const forks: string[] = []
  for await (const log of allLogs(pagesOf(store), { forkedFrom: id })) forks.push(log.id)
  return forks.toSorted()
}

/** Returns true if JSON is to be printed: on request, or because the output is not a terminal. */
export const wantsJson = ({ json }: Pick<Invocation, 'json'>, { stdout }: CliHost): boolean => json || !stdout.isTTY

/** Returns the maximum line width; `Infinity` if the output is not a terminal. */
export const columnsOf = ({ stdout }: Pick<CliHost, 'stdout'>): number =>
  stdout.isTTY && stdout.columns > 0 ? stdout.columns : Infinity

/** Quotes a word for a shell. */
const quoted = (word: string): string => (/^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)

/** Returns the command that continues a session, with the same folders. */
export function howToResume(id: string, { dir, logs }: LogPlace): string {
  const options = Object.entries({ dir, logs: logs === undefined ? undefined : shownAddress(logs) }).flatMap(
    ([name, value]) => (value === undefined ? [] : [`--${name} ${quoted(value)}`]),
  )
  return ['escapement resume', id, ...options].join(' ')
}

/** Prints the reason why a command did nothing, and returns its exit code. */
export function refuse(host: CliHost, why: string, code: number = exitCodes.failed): number {
  tell(host.stderr, `escapement: ${withoutControls(why)}\n`)
  return code
}

/**
 * Parses an option's value as a non-negative integer.
 *
 * @throws RuntimeError `INVALID_OPTION`, naming the text.
 */
export function readCount(option: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new RuntimeError('INVALID_OPTION', `${option} must be a whole number from 0 on; it is "${text}".`)
}

/** Returns the index for a turn number, which counts from 1. @throws RuntimeError `INVALID_OPTION` */
export function readTurn(option: string, text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text) - 1
  throw new RuntimeError('INVALID_OPTION', `${option} must be a whole number from 1 on; it is "${text}".`)
}
