import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { capturedRequests, type CapturedRequest } from '../../../../src/conversation/request/captureRequest.ts'
import type { ConversationView } from '../../../../src/conversation/tree/conversationView.ts'
import { treeSavings } from '../../../sessions/src/savings/savings.ts'
import { readHistory } from '../../../../src/log/readHistory.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import {
  conversationFormats,
  conversationGraph,
  type ConversationFormat,
} from '../../../charts/src/conversationGraph.ts'
import { checkChoice } from '../../../../src/protocol/checks/checkChoice.ts'
import type { LoadedSession } from '../../../sessions/src/loadSession.ts'
import type { SessionRun, Turn } from '../../../sessions/src/session.ts'
import { savingsOfTree, type AgentSavings } from '../../../sessions/src/savingsOfTree.ts'
import { sessionOf } from '../../../sessions/src/sessionProjection.ts'
import { type CliHost, exitCodes } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import type { Invocation } from '../commandLine.ts'
import { artifactLines, findArtifact, keptArtifacts, writeArtifact } from '../artifacts/keptArtifacts.ts'
import { writeNew } from '../sessions/newFile.ts'
import { readSession } from '../sessions/readSession.ts'
import { columnsOf, forksOf, logsFor, readTurn, refuse, wantsJson, type SessionLogs } from '../sessions/sessionLogs.ts'
import { coloursFor, type Colours } from '../terminal/colours.ts'
import { conversationTree } from '../chat/conversationTree.ts'
import { requestChange } from '../../../sessions/src/requestChange.ts'
import { requestLines } from '../terminal/requestText.ts'
import { safeJson } from '../terminal/safeJson.ts'
import { wrappedFor } from '../terminal/wordWrap.ts'
import { paged } from '../terminal/pager.ts'
import { broughtLines, runLines, sessionLines, sourceLines } from '../terminal/sessionText.ts'
import { toolSourcesOf } from '../../../sessions/src/toolSources.ts'
import { changeLine, turnLines } from '../terminal/turnText.ts'

/** `escapement show <id>`: prints a session, one of its turns, the exact request of a turn, or an artifact of a result. */
export const showCommand: CommandRun = async (invocation, host) => {
  const { task: id = '', turn, request, artifact } = invocation
  const wanted = turn === undefined ? undefined : readTurn('--turn', turn)
  const format =
    invocation.format === undefined ? undefined : checkChoice('--format', invocation.format, conversationFormats)
  if (format !== undefined && (request || wanted !== undefined))
    throw new RuntimeError('INVALID_OPTION', '--format draws the whole conversation: leave --turn and --request out.')
  if (artifact !== undefined && (format !== undefined || request || wanted !== undefined))
    throw new RuntimeError(
      'INVALID_OPTION',
      '--artifact writes one artifact: leave --format, --turn and --request out.',
    )
  if (artifact === undefined && format === undefined && invocation.out !== undefined)
    throw new RuntimeError('INVALID_OPTION', '--out of "show" goes with --artifact <name> or --format <form>.')
  const logs = await logsFor(invocation, host)
  const session = await readSession(logs, id)
  if (artifact !== undefined)
    return writeArtifact(findArtifact(keptArtifacts(session), artifact, id), logs, invocation, host)
  const views = { session, host, logs, isJson: wantsJson(invocation, host) }
  if (format !== undefined) return draw(views, format, invocation.out)
  if (request) return showRequest(views, wanted)
  if (wanted !== undefined) return showTurn(views, wanted)
  return showSession(views)
}

interface Views {
  readonly session: LoadedSession
  readonly host: CliHost
  readonly logs: SessionLogs
  readonly isJson: Invocation['json']
}

async function print({ host }: Views, lines: readonly string[]): Promise<number> {
  await paged(lines.map((line) => `${line}\n`).join(''), host)
  return exitCodes.done
}

async function draw(views: Views, format: ConversationFormat, out: string | undefined): Promise<number> {
  const { session, host } = views
  const columns = out === undefined ? columnsOf(host) : Infinity
  const drawn =
    format === 'json'
      ? safeJson(conversationGraph(session, { format }), 2)
      : conversationGraph(session, { format, columns }).trimEnd()
  if (out === undefined) return print(views, [drawn])
  await writeNew(out, [`${drawn}\n`])
  return print(views, views.isJson ? [safeJson({ file: out, format })] : [`Wrote ${out}.`])
}

const printJson = (views: Views, value: unknown): Promise<number> => print(views, [safeJson(value, 2)])

const coloursOf = ({ host }: Views): Colours => coloursFor(host.stdout, host.env, host.theme)

/** A conversation's nodes and their relations, as JSON. */
const conversationData = (conversation: ConversationView): object => ({
  head: conversation.head,
  trunk: conversation.trunk().map(({ id }) => id),
  nodes: conversation.log(),
  pins: conversation.pins(),
  masks: conversation.masks(),
})

/** Returns the savings without fields that the session has anyway. */
const savingsData = ({
  agentId: _,
  definition: __,
  sizes: ___,
  children: ____,
  stalls: _____,
  ...savings
}: AgentSavings): object => savings

async function showSession(views: Views): Promise<number> {
  const { session, host, logs } = views
  const { past: _, records: __, conversation, ...summary } = session
  const forks = await forksOf(logs, session.id)
  const agents = await savingsOfTree(session.id, async (id) =>
    id === session.id ? session.records : (await readHistory(logs.store, id)).records,
  )
  const savings = agents[0]!
  const tree = agents.length > 1 ? treeSavings(agents) : undefined
  const sources = toolSourcesOf([...session.past, ...session.records])
  const artifacts = keptArtifacts(session)
  if (views.isJson)
    return printJson(views, {
      ...summary,
      forks,
      ...(sources.length === 0 ? {} : { sources }),
      ...(artifacts.length === 0 ? {} : { artifacts }),
      savings: savingsData(savings),
      ...(tree === undefined ? {} : { treeSavings: tree }),
      conversation: conversationData(conversation),
    })
  const colours = coloursOf(views)
  const place = { forks, logFile: logs.place.logOf(session.id), now: systemClock.now() }
  const facts = { ...place, savings, ...(tree === undefined ? {} : { tree }) }
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', colours.bold(title), ...lines.map((line) => `  ${line}`)]
  const lines = [
    ...sessionLines(session, facts, colours),
    ...section('Tools from elsewhere', sourceLines(sources, colours)),
    ...section('Full results', artifactLines(artifacts)),
    ...section('Saved by each brake so far', broughtLines(savings)),
    ...section('Runs', runLines(session.runs, colours)),
    ...section('Between runs', session.changes.map(changeLine)),
    ...section(
      'Conversation',
      conversationTree(conversation, colours, columnsOf(host) - 2, [...session.past, ...session.records]),
    ),
  ]
  return print(
    views,
    lines.map((line) => wrappedFor(host.stdout, line)),
  )
}

/** Returns every turn with its run, for a fork the shared ones first. */
const turnsOf = ({ past, runs }: LoadedSession): { run: SessionRun; turn: Turn }[] =>
  [...sessionOf(past).runs, ...runs].flatMap((run) => run.turns.map((turn) => ({ run, turn })))

function findTurn(session: LoadedSession, wanted: number | undefined): { run: SessionRun; turn: Turn } {
  const turns = turnsOf(session)
  const found = wanted === undefined ? turns.at(-1) : turns.findLast(({ turn }) => turn.index === wanted)
  if (found !== undefined) return found
  const last = turns.at(-1)?.turn.index
  const what =
    last === undefined
      ? 'has no turn yet'
      : `has no turn ${wanted! + 1}: they go from ${turns[0]!.turn.index + 1} to ${last + 1}`
  throw new RuntimeError('INVALID_OPTION', `Session "${session.id}" ${what}.`)
}

async function showTurn(views: Views, wanted: number): Promise<number> {
  const { session, host } = views
  const { run, turn } = findTurn(session, wanted)
  const nodes = new Map(session.conversation.log().map((node) => [node.id, node]))
  if (!views.isJson) return print(views, turnLines({ run, turn, nodes }, coloursOf(views), columnsOf(host)))
  const ids = [...turn.input.map(({ nodeId }) => nodeId), turn.reply, ...turn.toolCalls.map(({ nodeId }) => nodeId)]
  const { turns: _, ...facts } = run
  const involved = ids.flatMap((id) => (id === undefined ? [] : (nodes.get(id) ?? [])))
  return printJson(views, { agentId: session.id, run: facts, turn, nodes: involved })
}

async function showRequest(views: Views, wanted: number | undefined): Promise<number> {
  const { session, host } = views
  const { index } = findTurn(session, wanted).turn
  const all = [...capturedRequests([...session.past, ...session.records])]
  // A turn with a compaction in the middle has two requests; the last one was answered.
  const at = all.findLastIndex(({ turnIndex }) => turnIndex === index)
  const now = all[at]
  if (now === undefined) return refuse(host, notCaptured(session.id, index, all))
  const before = all[at - 1]
  if (!views.isJson) return print(views, requestLines(now, before, coloursOf(views)))
  const since = before === undefined ? null : { turnIndex: before.turnIndex, ...requestChange(before, now) }
  const { turnIndex, runId, attempt, model, request, provenance } = now
  return printJson(views, { agentId: session.id, turnIndex, runId, attempt, model, request, provenance, since })
}

function notCaptured(id: string, turnIndex: number, all: readonly CapturedRequest[]): string {
  const others = [...new Set(all.map((captured) => captured.turnIndex + 1))].join(', ')
  const rest = others === '' ? '' : ` Captured were those of the turns ${others}.`
  const how = "Set captureTurnRequests: true on the agent, as the command line's own agent has it."
  return `The request of turn ${turnIndex + 1} of "${id}" was not captured.${rest} ${how}`
}
