import { textOf } from '../../../../src/protocol/messages.ts'
import { metadataText } from '../../../words/src/metadataText.ts'
import { withheldText } from '../../../../src/protocol/text/withheldText.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { listSessions, sessionsIn, type SessionSummary } from '../../../sessions/src/listSessions.ts'
import { type CliHost, exitCodes } from '../cliHost.ts'
import type { Invocation } from '../commandLine.ts'
import type { CommandRun } from '../command.ts'
import { columnsOf, logsFor, readCount, wantsJson } from '../sessions/sessionLogs.ts'
import { MachineNotes, machineTimers, machineWords, type MachineStanding } from '../sessions/machineStanding.ts'
import { age, counted, money, whole } from '../../../charts/src/amounts.ts'
import { factsAtRest, standingOf, standingWords, type Standing } from '../../../charts/src/standing.ts'
import { titleOf } from '../../../../src/log/outline.ts'
import { coloursFor, type Colours, paintStatus } from '../terminal/colours.ts'
import { safeJson } from '../terminal/safeJson.ts'
import { cell, number, tableLines, type Cell } from '../terminal/table.ts'
import { oneLine } from '../../../charts/src/plainText.ts'
import { fitted, textWidth } from '../../../charts/src/textWidth.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'

/** A session with its last text, from either side, or with the status of its machine. */
type Listed = SessionSummary & { readonly lastText?: string; readonly machine?: MachineStanding }

/** Maximum number of sessions shown at a terminal. */
const pageSize = 50

/** `escapement sessions`: lists the sessions recorded in a folder, the newest first. */
export const sessionsCommand: CommandRun = async (invocation, host) => {
  if (invocation.task !== undefined) {
    const { sessionAction } = await import('./sessionActions.ts')
    return await sessionAction(invocation, host)
  }
  const { place, store } = await logsFor(invocation, host)
  const texts = new Map<string, string>()
  const machines = new MachineNotes()
  const isJson = wantsJson(invocation, host)
  const limit = invocation.limit === undefined ? (isJson ? Infinity : pageSize) : readCount('--limit', invocation.limit)
  const { listed, isMore, seen } = await find(noting(store, texts, machines), invocation, limit)
  const sessions = listed.map((summary): Listed => {
    const lastText = texts.get(summary.id)
    const machine = machines.standing(summary.id)
    return {
      ...summary,
      ...(lastText === undefined ? {} : { lastText }),
      ...(machine === undefined ? {} : { machine }),
    }
  })
  const none =
    seen === 0
      ? `There is no session in ${place.name}. Make one: escapement run "<task>", or: escapement chat\n`
      : `Of ${counted(seen, 'session')} in ${place.name} none ${noneOf(invocation)}.\n`
  if (isJson) {
    for (const session of sessions) host.stdout.write(`${safeJson(session)}\n`)
    if (sessions.length === 0) host.stderr.write(none)
  } else host.stdout.write(sessions.length === 0 ? none : table(sessions, host))
  if (isMore) host.stderr.write(`There are more: --limit ${limit * 10}\n`)
  return exitCodes.done
}

interface Found {
  readonly listed: readonly SessionSummary[]
  readonly isMore: boolean
  /** Number of sessions examined. */
  readonly seen: number
}

/** Returns the newest sessions that match. */
async function find(
  store: Store,
  { failed, waiting }: Pick<Invocation, 'failed' | 'waiting'>,
  limit: number,
): Promise<Found> {
  const wanted: readonly Standing[] = [...(failed ? ['failed' as const] : []), ...(waiting ? ['waiting' as const] : [])]
  if (wanted.length === 0) {
    const all = await listSessions(store, limit === Infinity ? {} : { limit: limit + 1 })
    return { listed: all.slice(0, limit), isMore: all.length > limit, seen: all.length }
  }
  const listed: SessionSummary[] = []
  let seen = 0
  for await (const session of sessionsIn(store)) {
    seen += 1
    if (!wanted.includes(standingIn(session))) continue
    if (listed.length === limit) return { listed, isMore: true, seen }
    listed.push(session)
  }
  return { listed, isMore: false, seen }
}

/** Returns the status of a session. An unreadable session counts as failed, for a person who looks for problems. */
const standingIn = (session: SessionSummary): Standing =>
  session.error === undefined ? standingOf(factsAtRest(session)) : 'failed'

const noneOf = ({ failed, waiting }: Pick<Invocation, 'failed' | 'waiting'>): string =>
  [...(failed ? ['has failed'] : []), ...(waiting ? ['waits for a person'] : [])].join(' or ')

/** Wraps a store to remember the last text of every log that is read, and the machines among them. */
const noting = (store: Store, texts: Map<string, string>, machines: MachineNotes): Store => ({
  append: (agentId, records) => store.append(agentId, records),
  open: (agentId) => store.open(agentId),
  list: () => store.list(),
  ...(store.page === undefined ? {} : { page: (query) => store.page!(query) }),
  close: () => store.close(),
  async *read(agentId, fromSeq) {
    for await (const record of store.read(agentId, fromSeq)) {
      machines.note(agentId, record)
      if (record.type === 'message.added' || record.type === 'reply.end') {
        const text = textOf(record.message.content)
        if (text.trim() !== '') texts.set(agentId, text)
      } else if (record.type === 'guard.decided' && record.withheld !== undefined)
        texts.set(agentId, withheldText(record))
      yield record
    }
  },
})

/** Maximum width of the words for a state, in columns. */
const maxWords = 30

const heading: readonly Cell[] = [
  cell('id'),
  cell('definition'),
  cell('state'),
  ...['turns', 'cost', 'age'].map((name) => number(name)),
]

/** Indices of the shown columns: all of them or, in a narrow terminal, first without the definition, then without the turns and the cost. */
const layouts = [
  [0, 1, 2, 3, 4, 5],
  [0, 2, 3, 4, 5],
  [0, 2, 5],
] as const

/** Lays out the rows with the columns that fit. */
function fittedTable(rows: readonly (readonly Cell[])[], columns: number): string[] {
  const tables = layouts.map((shown) => tableLines(rows.map((row) => shown.map((index) => row[index]!))))
  return tables.find((lines) => lines.every((line) => textWidth(line) <= columns)) ?? tables.at(-1)!
}

function table(sessions: readonly Listed[], host: CliHost): string {
  const colours = coloursFor(host.stdout, host.env, host.theme)
  const columns = columnsOf(host)
  const now = systemClock.now()
  const [first = '', ...lines] = fittedTable(
    [heading, ...sessions.map((session) => rowOf(session, now, colours))],
    columns,
  )
  const rows = sessions.flatMap((session, i) => {
    const { error, metadata, title = '', lastText = '', machine } = session
    const timers = machine === undefined ? '' : machineTimers(machine, now)
    const last = titleOf(lastText) === title ? '' : lastText
    const said = [title, metadataText(metadata), timers, error === undefined ? last : error.message].filter(
      (text) => text !== '',
    )
    const below = fitted(`  ${oneLine(said.join(' · '))}`, columns)
    if (below.trim() === '') return [lines[i]!]
    return [lines[i]!, error === undefined ? colours.dim(below) : colours.red(below)]
  })
  return [colours.bold(first), ...rows].map((line) => `${line}\n`).join('')
}

/** Describes the status of a session. The log does not show whether another process runs it. */
function wordsOf(session: Listed): string {
  const { status, machine } = session
  if (machine !== undefined) return machineWords(machine)
  const facts = factsAtRest(session)
  return status === 'running' || standingOf(facts) === 'ended' ? status : standingWords(facts)
}

function rowOf(session: Listed, now: number, colours: Colours): Cell[] {
  const { id, definition, status, turns, costUsd, updatedAt, error, machine } = session
  return [
    cell(id, colours.bold),
    cell(oneLine(definition) || '–'),
    error === undefined
      ? cell(fitted(wordsOf(session), maxWords), paintStatus(machine?.status === 'failed' ? 'failed' : status, colours))
      : cell('unreadable', colours.red),
    number(whole(turns)),
    number(money(costUsd)),
    number(updatedAt === 0 ? '–' : age(now - updatedAt)),
  ]
}
