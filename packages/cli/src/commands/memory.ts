import { tell } from '../terminal/wordWrap.ts'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import {
  isMemoryScope,
  type Memory,
  type MemoryRecord,
  type MemoryScope,
} from '../../../../src/protocol/ports/memory.ts'
import { isTrusted } from '../../../tools/src/memory/memoryRules.ts'
import { nearestWord } from '../../../../src/protocol/checks/nearestWord.ts'
import { oneLine } from '../../../charts/src/plainText.ts'
import { fitted } from '../../../charts/src/textWidth.ts'
import { type CliHost, exitCodes } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import type { Invocation } from '../commandLine.ts'
import { loadConfig } from '../config/loadConfig.ts'
import { openMemory } from '../sessions/openMemory.ts'
import { columnsOf, refuse, wantsJson } from '../sessions/sessionLogs.ts'
import { coloursFor } from '../terminal/colours.ts'
import { safeJson } from '../terminal/safeJson.ts'
import { whyKept } from '../sessions/whyKept.ts'

/** A memory and the requested action. */
interface Work {
  readonly memory: Memory
  readonly path: string
  readonly id: string | undefined
  readonly scope: MemoryScope | undefined
  readonly invocation: Invocation
  readonly host: CliHost
}

const actions: { readonly [action: string]: (work: Work) => Promise<number> } = { list, show, confirm, delete: remove }

/** `escapement memory <list|show|confirm|delete> [id]`: shows and changes knowledge that agents keep beyond a conversation. */
export const memoryCommand: CommandRun = async (invocation, host) => {
  const [action = ''] = invocation.before
  const run = Object.hasOwn(actions, action) ? actions[action] : undefined
  if (run === undefined) {
    const names = Object.keys(actions)
    const meant = nearestWord(action, names)
    const hint = meant === undefined ? `There are: ${names.join(', ')}.` : `Did you mean "${meant}"?`
    return refuse(host, `"memory" cannot "${action}". ${hint}`, exitCodes.usage)
  }
  const { task: id, scope } = invocation
  if (scope !== undefined && !isMemoryScope(scope))
    throw new RuntimeError('INVALID_OPTION', `--scope "${scope}" is no scope: give agent:…, user:… or workspace:….`)
  const path = await placeOf(invocation, host, action === 'list')
  if (!existsSync(path)) return tellNone(invocation, host, `Nothing is remembered yet: there is no ${path} so far.`)
  const { memory, close } = openMemory(path)
  try {
    return await run({ memory, path, id, scope, invocation, host })
  } finally {
    close()
  }
}

/**
 * Returns the path of the memory. Creates nothing.
 *
 * @throws RuntimeError `INVALID_OPTION` if there is no memory. With `mayBeNew` it may be missing if the configuration names its path.
 */
async function placeOf(invocation: Invocation, host: CliHost, mayBeNew: boolean): Promise<string> {
  const { file, dir = '.' } = invocation
  const config = file === undefined ? await loadConfig(invocation, host) : undefined
  const path = file ?? config?.memory ?? join(dir, '.escapement', 'memory')
  const absolute = resolve(host.cwd(), path)
  const isComing = mayBeNew && file === undefined && config?.memory !== undefined
  if (isComing || existsSync(absolute)) return absolute
  const hint = file === undefined ? ' --file says where it is: a folder of Markdown files, or an SQLite file.' : ''
  throw new RuntimeError('INVALID_OPTION', `There is no memory at ${absolute}.${hint}`)
}

function tellNone(invocation: Invocation, host: CliHost, text: string): number {
  const out = wantsJson(invocation, host) ? host.stderr : host.stdout
  out.write(`${text}\n`)
  return exitCodes.done
}

const scopesOf = ({ scope }: Work): { scopes?: readonly MemoryScope[] } =>
  scope === undefined ? {} : { scopes: [scope] }

async function list(work: Work): Promise<number> {
  const { memory, invocation, host, id } = work
  if (id !== undefined) return refuse(host, `"memory list" takes no id; it got "${id}".`, exitCodes.usage)
  const records = await memory.list(scopesOf(work))
  const problems = (await memory.problems?.()) ?? []
  if (wantsJson(invocation, host)) {
    for (const record of records) host.stdout.write(`${safeJson(record)}\n`)
  } else {
    const colours = coloursFor(host.stdout, host.env, host.theme)
    const columns = columnsOf(host)
    for (const record of records) {
      host.stdout.write(`${colours.bold(record.id)}  ${headOf(record)}\n`)
      host.stdout.write(`${fitted(`  ${oneLine(record.text)}`, columns)}\n`)
    }
  }
  if (records.length === 0) tellNone(invocation, host, `There is nothing in ${work.path}.`)
  for (const { place, problem } of problems) tell(host.stderr, `${oneLine(`${place}: ${problem}`)}\n`)
  return exitCodes.done
}

/** Describes the owner and the status of a record. */
function headOf(record: MemoryRecord): string {
  const { scope, kind, updatedAt, approved, confirmations } = record
  const day = new Date(updatedAt).toISOString().slice(0, 10)
  const standing = approved ? 'confirmed by a person' : isTrusted(record) ? '' : unconfirmed(record)
  const times = confirmations.length > 1 ? `from ${confirmations.length} conversations` : ''
  return [oneLine(scope), kind, day, times, standing].filter((part) => part !== '').join(' · ')
}

const unconfirmed = ({ tainted }: MemoryRecord): string =>
  tainted ? 'unconfirmed, may come from the output of a tool' : 'unconfirmed, from one conversation so far'

async function show(work: Work): Promise<number> {
  const { invocation, host } = work
  const record = await find(work)
  if (wantsJson(invocation, host)) host.stdout.write(`${safeJson(record, 2)}\n`)
  else {
    const { source, text } = record
    const from = [source.by, source.agentId, source.runId].filter((part) => part !== undefined).join(', ')
    const lines = [`${record.id}  ${headOf(record)}`, `from ${from}`, '', ...text.split('\n')]
    host.stdout.write(lines.map((line) => `${oneLine(line)}\n`).join(''))
  }
  return exitCodes.done
}

async function confirm(work: Work): Promise<number> {
  const { memory, invocation, host } = work
  const record = await find(work)
  const kept = await memory.put({ ...record, approved: true })
  host.stdout.write(wantsJson(invocation, host) ? `${safeJson(kept)}\n` : `"${kept.id}" counts as known from now on.\n`)
  return exitCodes.done
}

async function remove(work: Work): Promise<number> {
  const { memory, scope, id, invocation, host } = work
  if (id === undefined && scope === undefined)
    return refuse(host, '"memory delete" needs an id, or a --scope to delete all of it.', exitCodes.usage)
  const which = id === undefined ? { scope: scope! } : await find(work)
  const what = id === undefined ? `all of ${scope}` : `"${id}"`
  const kept = await whyKept(invocation, host, what)
  if (kept !== undefined) return kept
  const deleted = await memory.delete({ scope: which.scope, ...('id' in which ? { id: which.id } : {}) })
  host.stdout.write(
    wantsJson(invocation, host)
      ? `${safeJson({ deleted })}\n`
      : `${deleted === 1 ? 'One record was' : `${deleted} records were`} deleted.\n`,
  )
  return exitCodes.done
}

/** Returns the record with the given id. @throws RuntimeError `INVALID_OPTION`, naming the existing records. */
async function find(work: Work): Promise<MemoryRecord> {
  const { memory, path, id } = work
  if (id === undefined) throw new RuntimeError('INVALID_OPTION', 'Give its id; list them with: escapement memory list')
  const records = await memory.list(scopesOf(work))
  const [found, ...others] = records.filter((record) => record.id === id)
  if (found === undefined) {
    const begun = records.filter((record) => record.id.startsWith(id))
    const meant =
      begun.length === 1
        ? begun[0]!.id
        : nearestWord(
            id,
            records.map((record) => record.id),
          )
    const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`
    throw new RuntimeError('INVALID_OPTION', `There is no record "${id}" in ${path}.${hint}`)
  }
  if (others.length === 0) return found
  const scopes = [found, ...others]
    .map(({ scope }) => scope)
    .toSorted()
    .join(', ')
  throw new RuntimeError('INVALID_OPTION', `"${id}" is in several scopes: say --scope, one of ${scopes}.`)
}
