import { wrappedFor } from '../terminal/wordWrap.ts'
import { oneLine } from '../../../charts/src/plainText.ts'
import { age, counted } from '../../../charts/src/amounts.ts'
import { fitted } from '../../../charts/src/textWidth.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { RuntimeError, messageOf } from '../../../../src/protocol/errors.ts'
import type { Metadata } from '../../../../src/protocol/metadata.ts'
import { readMetadata } from '../sessions/readMetadata.ts'
import { nearestWord } from '../../../../src/protocol/checks/nearestWord.ts'
import { copySessions, type CopiedSessions, type CopyProgress } from '../../../sessions/src/copySessions.ts'
import { pagesOf } from '../../../stores/src/logPages.ts'
import { searchSessions } from '../../../sessions/src/searchSessions.ts'
import { exitCodes, type CliHost } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import type { Invocation } from '../commandLine.ts'
import { recordFolder } from '../sessions/recordFolder.ts'
import { columnsOf, logsFor, readCount, refuse, wantsJson } from '../sessions/sessionLogs.ts'
import { storeForms, storePlace } from '../config/storePlace.ts'
import { coloursFor } from '../terminal/colours.ts'
import { safeJson } from '../terminal/safeJson.ts'

interface Work {
  readonly invocation: Invocation
  readonly host: CliHost
  /** Words after the action. */
  readonly rest: string
}

const actions: { readonly [action: string]: (work: Work) => Promise<number> } = {
  search: searchAction,
  export: (work) => transfer(work, 'export'),
  import: (work) => transfer(work, 'import'),
  move: (work) => transfer(work, 'move'),
}

/** `escapement sessions <search|export|import|move> …`: searches, exports, imports or moves sessions. */
export const sessionAction: CommandRun = async (invocation, host) => {
  const { task = '' } = invocation
  const [action = ''] = task.split(' ', 1)
  const rest = task.slice(action.length).trim()
  const run = Object.hasOwn(actions, action) ? actions[action] : undefined
  if (run !== undefined) return run({ invocation, host, rest })
  const names = Object.keys(actions)
  const meant = nearestWord(action, names)
  const hint = meant === undefined ? `There are: ${names.join(', ')}.` : `Did you mean "${meant}"?`
  return refuse(host, `"sessions" cannot "${oneLine(action)}". ${hint}`, exitCodes.usage)
}

async function searchAction({ invocation, host, rest }: Work): Promise<number> {
  if (rest === '')
    return refuse(host, 'Say what to look for, like: escapement sessions search "flaky test"', exitCodes.usage)
  const { place, store } = await logsFor(invocation, host)
  const limit = invocation.limit === undefined ? 20 : readCount('--limit', invocation.limit)
  const hits = await searchSessions(store, { text: rest, limit, ...chosen(invocation) })
  const { logs } = await pagesOf(store)({ ids: [...new Set(hits.map(({ agentId }) => agentId))], limit })
  const known = new Map(logs.map((log) => [log.id, log]))
  if (wantsJson(invocation, host)) {
    for (const hit of hits) host.stdout.write(`${safeJson(hit)}\n`)
    return exitCodes.done
  }
  if (hits.length === 0) host.stdout.write(`Nothing in ${place.name} says ${JSON.stringify(oneLine(rest))}.\n`)
  const colours = coloursFor(host.stdout, host.env, host.theme)
  for (const { agentId, seq, excerpt } of hits) {
    const log = known.get(agentId)
    const facts = [
      `record ${seq}`,
      ...(log === undefined ? [] : [oneLine(log.origin?.definition ?? ''), age(systemClock.now() - log.writtenAt)]),
    ]
    const below = fitted(`  ${oneLine(excerpt)}`, columnsOf(host))
    host.stdout.write(`${colours.bold(agentId)}  ${colours.dim(facts.filter(Boolean).join(' · '))}\n${below}\n`)
  }
  return exitCodes.done
}

async function transfer({ invocation, host, rest }: Work, how: 'export' | 'import' | 'move'): Promise<number> {
  if (rest === '')
    return refuse(
      host,
      `Say ${how === 'import' ? 'where from' : 'where to'}: ${storeForms}, like: escapement sessions ${how} sqlite:sessions.db`,
      exitCodes.usage,
    )
  const other = storePlace(rest, '.')
  const isImport = how === 'import'
  if (isImport && other.isThere() === false)
    throw new RuntimeError('INVALID_OPTION', `There is no store at "${other.name}".`)
  const own = (await logsFor(invocation, host, { mayBeNew: isImport })).place
  if (own.address === other.address)
    throw new RuntimeError('INVALID_OPTION', `${other.name} is where the sessions are already.`)
  const [from, to] = isImport ? [other, own] : [own, other]
  if (to.folder !== undefined) recordFolder(to.folder)
  const [source, target] = [await from.open(), await to.open()]
  const line = progressLine(host)
  try {
    const report = await copySessions(source, target, {
      ...chosen(invocation),
      isMove: how === 'move',
      onLog: (progress) => line.show(progress),
    })
    line.end()
    tell(report, { invocation, host, to: to.name })
    return report.refused.length === 0 ? exitCodes.done : exitCodes.failed
  } finally {
    line.end()
    await Promise.allSettled([source.close(), target.close()])
  }
}

/** Returns the filter for `--only a,b` and `--metadata user=u1,plan=2`. @throws RuntimeError `INVALID_OPTION` */
function chosen({ only, metadata }: Pick<Invocation, 'only' | 'metadata'>): {
  readonly ids?: readonly string[]
  readonly metadata?: Metadata
} {
  const ids = only?.split(',').filter((id) => id !== '')
  return {
    ...(ids === undefined ? {} : { ids }),
    ...(metadata === undefined ? {} : { metadata: readMetadata(metadata) }),
  }
}

/** Returns a progress display: at a terminal, one line that is rewritten. */
function progressLine({ stderr }: CliHost): { show(progress: CopyProgress): void; end(): void } {
  let isShown = false
  return {
    show({ agentId, done, total }) {
      if (!stderr.isTTY) return
      isShown = true
      stderr.write(`\r${fitted(`${done} of ${total}: ${agentId}`, Math.max(20, stderr.columns - 1))}\u001B[K`)
    },
    end() {
      if (isShown) stderr.write('\r\u001B[K')
      isShown = false
    },
  }
}

function tell(
  report: CopiedSessions,
  { invocation, host, to }: { readonly invocation: Invocation; readonly host: CliHost; readonly to: string },
): void {
  const { copied, same, moved, kept, refused, lost } = report
  const named = refused.map(({ agentId, error }) => ({ agentId, code: error.code, message: messageOf(error) }))
  if (wantsJson(invocation, host)) {
    host.stdout.write(`${safeJson({ copied, same, moved, kept, refused: named, lost })}\n`)
    return
  }
  const lines = [
    `${counted(copied.length, 'log')} copied to ${to}${same.length === 0 ? '' : `, ${same.length} there already`}${moved.length === 0 ? '' : `, ${moved.length} deleted here`}.`,
    ...(kept.length === 0 ? [] : [`Not deleted, as forks share them: ${kept.join(', ')}.`]),
    ...(lost === 0 ? [] : [`Too large to keep there: ${counted(lost, 'file')}.`]),
  ]
  host.stdout.write(`${lines.join('\n')}\n`)
  for (const { agentId, message } of named)
    host.stderr.write(wrappedFor(host.stderr, `${agentId} was left alone: ${oneLine(message)}\n`))
}
