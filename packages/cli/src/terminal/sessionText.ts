import { formatNodeId } from '../../../../src/protocol/ids.ts'
import { totalTokens, type Usage } from '../../../../src/protocol/messages.ts'
import type { Savings, TreeSavings } from '../../../sessions/src/savings/savings.ts'
import type { PauseReason, Spent } from '../../../../src/protocol/records.ts'
import type { LoggedSource } from '../../../sessions/src/toolSources.ts'
import type { SessionRun, Session, SessionCall, Turn } from '../../../sessions/src/session.ts'
import { age, counted, duration, moment, money, whole } from '../../../charts/src/amounts.ts'
import { broughtWords, savedWords, savingsNotes } from '../../../charts/src/savingsWords.ts'
import { type Colours, paintStatus } from './colours.ts'
import { cell, number, tableLines, type Cell } from './table.ts'
import { oneLine } from '../../../charts/src/plainText.ts'

export interface SessionFacts {
  readonly forks: readonly string[]
  readonly logFile: string
  /** Current time in epoch milliseconds. */
  readonly now: number
  /** Savings of the agent itself. */
  readonly savings: Savings
  /** Savings of the agent and all agents below it, if there are any. */
  readonly tree?: TreeSavings
}

/** Returns the lines of a session's summary. */
export function sessionLines(
  session: Session,
  { forks, logFile, now, savings, tree }: SessionFacts,
  colours: Colours,
): string[] {
  const { id, definition, status, isStopped, model, createdAt, updatedAt, usage, costUsd, forkedFrom, path } = session
  // The log alone cannot tell a running process from one that died.
  const running = status === 'running' ? 'running, or its process died' : status
  const state = isStopped ? `${status}, stopped for good` : running
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['model', oneLine(model)],
    ['begun', `${moment(createdAt)}, last record ${age(now - updatedAt)} ago`],
    ['used', usageText(usage, costUsd)],
    ...savedFacts(savings),
    [
      'tree',
      tree === undefined ? undefined : `${usageText(tree.spent.usage, tree.spent.costUsd)}; saved ${savedWords(tree)}`,
    ],
    ['parent', path.at(-1)],
    ['forked', forkedFrom === undefined ? undefined : `from ${forkedFrom.agentId} at ${formatNodeId(forkedFrom.at)}`],
    ['forks', forks.length === 0 ? undefined : forks.join(', ')],
    ['log', logFile],
  ]
  return [
    `${colours.bold(id)} · ${oneLine(definition)} · ${paintStatus(status, colours)(state)}`,
    ...facts.flatMap(([name, value]) => (value === undefined ? [] : [`  ${colours.dim(name.padEnd(8))}${value}`])),
  ]
}

/** Returns facts about the savings from brakes; none if the brakes did nothing. */
const savedFacts = (savings: Savings): readonly (readonly [string, string])[] =>
  savings.brakes.length + savings.byBrakes.requests === 0
    ? []
    : [['saved', savedWords(savings)], ...savingsNotes(savings).map((note) => ['', note] as const)]

/** Maximum number of changes whose savings are listed, the newest. */
const mostChanges = 20

/** Returns a line for each change of the model's view, with its savings so far. */
export const broughtLines = ({ brakes }: Savings): string[] => [
  ...(brakes.length <= mostChanges ? [] : [counted(brakes.length - mostChanges, 'earlier change')]),
  ...tableLines(
    brakes
      .slice(-mostChanges)
      .map((brake) => [
        number(`turn ${brake.turnIndex + 1}`),
        cell(brake.type.split('.')[0]!),
        cell(broughtWords(brake)),
      ]),
  ),
]

/** Returns lines on the sources of tools: their tools' names, their part of the system prompt, and their trouble, if any. */
export const sourceLines = (sources: readonly LoggedSource[], colours: Colours): string[] =>
  sources.flatMap(({ source, tools, instructions = '', trouble }) => [
    `${colours.bold(oneLine(source))} · ${tools.length === 0 ? 'no tools' : tools.map(oneLine).join(', ')}`,
    ...instructions.split('\n').flatMap((line) => (line.trim() === '' ? [] : [`  ${colours.dim(oneLine(line))}`])),
    ...(trouble === undefined ? [] : [`  ${colours.red(oneLine(trouble))}`]),
  ])

const usageText = (usage: Usage, costUsd: number): string => {
  const cached = usage.cacheRead + usage.cacheWrite
  const parts = [
    `${whole(usage.input)} in`,
    `${whole(usage.output)} out`,
    ...(cached === 0 ? [] : [`${whole(cached)} cached`]),
  ]
  return `${whole(totalTokens(usage))} tokens (${parts.join(', ')}), cost ${money(costUsd)}`
}

/** Describes an agent's spending: `12 turns · 34,567 tokens (…), cost $0.27`. Pure. */
export const spentWords = ({ turns, usage, costUsd }: Spent): string =>
  `${counted(turns, 'turn')} · ${usageText(usage, costUsd)}`

/** Returns the lines of a session's runs, each followed by its turns. */
export function runLines(runs: readonly SessionRun[], colours: Colours): string[] {
  const turns = tableLines(runs.flatMap((run) => run.turns.map((turn) => turnRow(turn, colours))))
  let at = 0
  return runs.flatMap((run) => {
    const rows = turns.slice(at, (at += run.turns.length))
    return [runLine(run, colours), ...rows.map((row) => `  ${row}`.trimEnd())]
  })
}

function runLine(run: SessionRun, colours: Colours): string {
  const { cause, status, turns, usage, costUsd, startedAt, endedAt, reason, error, resumedFrom } = run
  const facts = [
    resumedFrom === undefined ? cause : `${cause} of ${shortRunId(resumedFrom)}`,
    paintStatus(status, colours)(status),
    counted(turns.length, 'turn'),
    `${whole(totalTokens(usage))} tokens`,
    money(costUsd),
    ...(endedAt === undefined ? [] : [duration(endedAt - startedAt)]),
    ...(reason === undefined ? [] : [pauseText(reason)]),
    ...(error === undefined ? [] : [colours.red(`${oneLine(error.message)} (${error.code})`)]),
  ]
  return `${colours.bold(shortRunId(run.id))} · ${facts.join(' · ')}`
}

/** Returns the short form of a run's id: `r0` of `coder-1/r0`. */
export const shortRunId = (runId: string): string => oneLine(runId.slice(runId.lastIndexOf('/') + 1))

/** Describes why a run is paused. */
export function pauseText(reason: PauseReason): string {
  switch (reason.type) {
    case 'limit':
      return `the limit of ${whole(reason.allowed)} ${reason.limit} is reached`
    case 'approvals':
      return `people are asked about ${counted(reason.callIds.length, 'call')}`
    case 'timer':
      return `it sleeps until ${new Date(reason.until).toISOString()}`
    case 'store':
      return oneLine(reason.error.message)
    case 'stall':
      return `it went in circles: ${oneLine(reason.evidence)}`
    case 'interrupted':
      return 'the process was interrupted'
  }
}

function turnRow(turn: Turn, colours: Colours): Cell[] {
  const { index, status, input, reply, toolCalls, usage, startedAt, endedAt, attempts, changes } = turn
  const calls = toolCalls.map(callMark).join(', ')
  const notes = [
    calls,
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...changes.filter(({ applied }) => applied).map(({ type }) => type),
  ]
  return [
    number(`turn ${index + 1}`),
    cell(status, paintStatus(status, colours)),
    cell(
      [...input.map(({ nodeId }) => formatNodeId(nodeId)), ...(reply === undefined ? [] : [formatNodeId(reply)])].join(
        ' ',
      ),
    ),
    number(whole(totalTokens(usage))),
    number(endedAt === undefined ? '–' : duration(endedAt - startedAt)),
    cell(notes.filter(Boolean).join(' · ')),
  ]
}

const callMark = ({ name, status, isError }: SessionCall): string =>
  `${oneLine(name)} ${status === 'ended' ? (isError === true ? '✗' : '✓') : `(${status})`}`
