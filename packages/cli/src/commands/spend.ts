import { tell } from '../terminal/wordWrap.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { nearestWord } from '../../../../src/protocol/checks/nearestWord.ts'
import { totalTokens } from '../../../../src/protocol/text/messageText.ts'
import { counted, dollars, moment, whole } from '../../../charts/src/amounts.ts'
import { oneLine } from '../../../charts/src/plainText.ts'
import { fitted } from '../../../charts/src/textWidth.ts'
import { rangeWords } from '../../../charts/src/savingsWords.ts'
import type { SpendBy, SpendGroup, SpendAmount, SpendSaved } from '../../../wire/src/spend.ts'
import { spendOf, type StoreSpend } from '../../../sessions/src/spend/spendOf.ts'
import { exitCodes, type CliHost } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import { readMetadata } from '../sessions/readMetadata.ts'
import { readSince } from '../sessions/readSince.ts'
import { columnsOf, logsFor, readCount, refuse, wantsJson } from '../sessions/sessionLogs.ts'
import { coloursFor } from '../terminal/colours.ts'
import { safeJson } from '../terminal/safeJson.ts'
import { cell, number, tableLines, type Cell } from '../terminal/table.ts'

const known = ['session', 'user', 'model', 'definition'] as const

/** Returns the grouping for a word. An unknown word is a metadata key. */
const byOf = (word: string): SpendBy => known.find((one) => one === word) ?? { metadata: word }

/** Maximum number of groups shown at a terminal. `mostName`: maximum width of a name in columns. */
const mostGroups = 30
const mostName = 40

/** `escapement spend [by]`: sums the spending on models by the agents in a store. */
export const spendCommand: CommandRun = async (invocation, host) => {
  const { task: word = 'session', since, metadata } = invocation
  const { place, store } = await logsFor(invocation, host)
  const from = since === undefined ? undefined : readSince(since, systemClock.now())
  const spend = await spendOf(store, {
    by: byOf(word),
    ...(from === undefined ? {} : { since: from }),
    ...(metadata === undefined ? {} : { metadata: readMetadata(metadata) }),
  })
  const isMeant = spend.groups.length === 0 || spend.groups.some(({ key }) => key !== null)
  if (!isMeant && word !== 'session') {
    const meant = nearestWord(word, known)
    const hint = meant === undefined ? 'Give session, user, model, definition, or a key.' : `Did you mean "${meant}"?`
    return refuse(host, `No agent in ${place.name} has "${word}" in its metadata. ${hint}`, exitCodes.usage)
  }
  const isJson = wantsJson(invocation, host)
  const limit =
    invocation.limit === undefined ? (isJson ? Infinity : mostGroups) : readCount('--limit', invocation.limit)
  const groups = spend.groups.slice(0, limit)
  if (isJson) host.stdout.write(`${safeJson({ ...spend, groups })}\n`)
  else if (groups.length === 0) {
    const when = from === undefined ? '' : ` since ${moment(from)}`
    host.stdout.write(`Nothing was spent in ${place.name}${when}.\n`)
  } else {
    host.stdout.write(table(word, { ...spend, groups }, host))
    const { saved } = spend
    if (saved !== undefined && saved.agents + saved.unpriced.agents > 0) tell(host.stdout, `${savedLine(saved)}\n`)
  }
  for (const note of notesOn(spend, groups.length)) tell(host.stderr, `${note}\n`)
  return exitCodes.done
}

function table(word: string, spend: StoreSpend, host: CliHost): string {
  const colours = coloursFor(host.stdout, host.env, host.theme)
  const heads = ['cost', 'share', 'requests', 'tokens', 'agents'].map((name) => number(name))
  const rows = spend.groups.map((group) => rowOf(group, spend))
  const total = [cell('all', colours.bold), ...amounts(spend), number('')]
  const [head = '', ...lines] = tableLines([[cell(word), ...heads], ...rows, total])
  const columns = columnsOf(host)
  return [colours.bold(head), ...lines].map((line) => `${fitted(line, columns)}\n`).join('')
}

const rowOf = (group: SpendGroup, all: SpendAmount): Cell[] => [
  cell(group.key === null ? '–' : fitted(oneLine(group.key), mostName)),
  ...amounts(group, all),
  number(whole(group.agents)),
]

const amounts = (spent: SpendAmount, all?: SpendAmount): Cell[] => [
  number(isUnpriced(spent) ? 'no price' : dollars(spent.costUsd)),
  number(all === undefined || all.costUsd === 0 ? '' : `${Math.round((100 * spent.costUsd) / all.costUsd)} %`),
  number(whole(spent.requests)),
  number(whole(totalTokens(spent.usage))),
]

const isUnpriced = ({ costUsd, unpriced }: SpendAmount): boolean => costUsd === 0 && totalTokens(unpriced.usage) > 0

/** Returns a line with the savings from brakes, net of their cost, over all sessions in the store. */
function savedLine({ agents, tokens, usd, unpriced }: SpendSaved): string {
  const of = (count: number): string => `in ${counted(count, 'agent')}`
  const parts = [
    ...(agents === 0 ? [] : [`${rangeWords(usd)} and ${counted(tokens, 'token')} ${of(agents)}`]),
    ...(unpriced.agents === 0
      ? []
      : [`${counted(unpriced.tokens, 'token')} ${of(unpriced.agents)} whose prices are not known`]),
  ]
  return `saved by brakes: ${parts.join('; ')}`
}

function notesOn({ groups, unpriced, unread, unreadLogs }: StoreSpend, shown: number): readonly string[] {
  const tokens = totalTokens(unpriced.usage)
  const [first] = unreadLogs
  return [
    ...(shown < groups.length ? [`There are ${whole(groups.length - shown)} more: --limit ${groups.length}`] : []),
    ...(tokens === 0
      ? []
      : [
          `Without a known price, and in no amount: ${counted(unpriced.requests, 'request')}, ${counted(tokens, 'token')}. Set pricing on the agent.`,
        ]),
    ...(first === undefined
      ? []
      : [
          `${counted(unread, 'log')} could not be read to the end, so what comes after is missing: ${first.agentId}: ${oneLine(first.error.message)}`,
        ]),
  ]
}
