import { pause } from '../../../../src/protocol/ports/pause.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { type AgentEvent, eventOf, type LoggedEvent } from '../../../../src/protocol/events.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import { pendingIn } from '../../../wire/src/pendingIn.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { LoadedSession } from '../../../sessions/src/loadSession.ts'
import { type CliHost, exitCodes } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import { readSession } from '../sessions/readSession.ts'
import { columnsOf, logsFor, readTurn, wantsJson } from '../sessions/sessionLogs.ts'
import { onStopSignal } from '../signals.ts'
import { coloursFor } from '../terminal/colours.ts'
import { eventPrinter } from '../terminal/eventPrinter.ts'
import { safeJson } from '../terminal/safeJson.ts'
import { plainScreen, type Screen } from '../terminal/screen.ts'
import { oneLine, withoutControls } from '../../../charts/src/plainText.ts'
import { callLine } from '../../../charts/src/toolLine.ts'

/** `escapement replay <id>`: prints a recorded session as it was printed live, without calling models or tools. */
export const replayCommand: CommandRun = async (invocation, host) => {
  const { task: id = '', to } = invocation
  const upTo = to === undefined ? undefined : readTurn('--to', to)
  const speed = readSpeed(invocation.speed)
  const session = await readSession(await logsFor(invocation, host), id)
  const records = [...session.past, ...session.records]
  checkTurn(id, records, upTo)
  const stop = new AbortController()
  const ignoreSignals = onStopSignal(host, () => stop.abort(new Error('The replay was stopped.')))
  try {
    const steps = replaySteps(records, upTo)
    if (wantsJson(invocation, host)) await playData(steps, { host, speed: speed ?? 0, signal: stop.signal })
    else await playText(steps, session, { host, speed, signal: stop.signal })
  } finally {
    ignoreSignals()
  }
  return stop.signal.aborted ? exitCodes.interrupted : exitCodes.done
}

interface PlayOptions {
  readonly host: CliHost
  readonly speed: number | undefined
  readonly signal: AbortSignal
}

function readSpeed(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const speed = /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN
  if (Number.isFinite(speed)) return speed
  throw new RuntimeError('INVALID_OPTION', `--speed must be a number from 0 on, like 2 or 0.5; it is "${text}".`)
}

function checkTurn(id: string, records: readonly LogRecord[], upTo: number | undefined): void {
  if (upTo === undefined) return
  const last = records.findLast((record) => record.type === 'turn.start')
  if (last?.type === 'turn.start' && upTo <= last.turnIndex) return
  const turns = last?.type === 'turn.start' ? `its last turn is ${last.turnIndex + 1}` : 'it has no turn yet'
  throw new RuntimeError('INVALID_OPTION', `--to ${upTo + 1} is beyond the end of session "${id}": ${turns}.`)
}

async function playData(steps: Iterable<ReplayStep>, { host, speed, signal }: PlayOptions): Promise<void> {
  for (const step of steps) {
    await wait(replayPause(step, speed), signal)
    if (signal.aborted) return
    host.stdout.write(`${safeJson(step.event)}\n`)
  }
}

async function playText(steps: Iterable<ReplayStep>, session: LoadedSession, options: PlayOptions): Promise<void> {
  const { host, speed, signal } = options
  const colours = coloursFor(host.stdout, host.env, host.theme)
  const screen = plainScreen(host.stdout, Number.isFinite(columnsOf(host)) ? columnsOf(host) : undefined)
  const isPriced = session.costUsd > 0 || session.model.startsWith('embedded:')
  const print = eventPrinter({ screen, colours, isPriced, isDumb: host.env['TERM'] === 'dumb' })
  let isAtWork = false
  for (const step of steps) {
    const { event } = step
    const ms = replayPause(step, speed)
    const deltas = [...deltasOf(event)]
    for (const delta of deltas) {
      await wait(ms / deltas.length, signal)
      if (signal.aborted) break
      print(delta)
    }
    if (deltas.length === 0) await wait(ms, signal)
    if (signal.aborted) break
    for (const line of personLines(event)) writeLine(screen, colours.bold(line))
    print(event)
    if (event.type === 'run.start') isAtWork = true
    else if (event.type === 'run.end') isAtWork = false
  }
  if (!screen.isAtLineStart) screen.write('\n')
  if (isAtWork && !signal.aborted)
    screen.write(`${colours.dim('  (no more of this run was recorded, or asked for)')}\n`)
}

const wait = async (ms: number, signal: AbortSignal): Promise<void> => {
  if (ms > 0) await pause(ms, systemClock, signal)
}

function writeLine(screen: Screen, line: string): void {
  if (!screen.isAtLineStart) screen.write('\n')
  screen.write(`${line}\n`)
}

/** Yields the text of a recorded reply as it may have streamed. */
function* deltasOf(event: ReplayStep['event']): Generator<AgentEvent, void, undefined> {
  if (event.type !== 'reply.end') return
  const { agentId, path, seq, time, runId, turnIndex, message } = event
  let offset = 0
  for (const text of textPieces(textOf(message.content))) {
    yield { type: 'reply.delta', agentId, path, seq: seq - 1, time, runId, turnIndex, text, offset }
    offset += text.length
  }
}

/** Returns the lines that show a person's input. */
function personLines(event: ReplayStep['event']): string[] {
  switch (event.type) {
    case 'message.added':
      return withoutControls(textOf(event.message.content))
        .split('\n')
        .map((line, i) => (i === 0 ? `› ${line}` : `  ${line}`))
    case 'approval.requested':
      return [`  ? ${callLine(event.name, event.input)}`]
    case 'approval.decided':
      return [
        `  ${event.decision === 'approve' ? 'allowed' : `denied${event.reason === undefined ? '' : `: ${oneLine(event.reason)}`}`}`,
      ]
    case 'question.asked':
      return [`  ? ${oneLine(`${event.name} asks: ${event.question}`)}`]
    case 'question.answered':
      return [
        `  ${oneLine(event.decision === 'deny' ? `no answer: ${event.reason ?? ''}` : JSON.stringify(event.value))}`,
      ]
    case 'call.requested':
      return [`  ? ${callLine(event.name, event.input)} (for a client)`]
    default:
      return []
  }
}

/** A recorded event, and the time that passed before it. */
interface ReplayStep {
  readonly event: LoggedEvent
  /** Milliseconds since the previous record. */
  readonly ms: number
  /** True if the agent was idle or waiting for a person. */
  readonly isRest: boolean
}

/** Yields the events of a log, for a fork those of its past first, up to and including a turn. A fork continues without a pause. Pure. */
export function* replaySteps(records: Iterable<LogRecord>, upTo = Infinity): Generator<ReplayStep, void, undefined> {
  let agentId = ''
  let path: readonly string[] = []
  let last: number | undefined
  let isAtWork = false
  let isAsked = false
  for (const record of records) {
    if ('turnIndex' in record && record.turnIndex > upTo) return
    if (record.type === 'agent.created') {
      agentId = record.agentId
      path = record.path
      last = undefined
      isAtWork = false
    }
    yield {
      event: eventOf(record, { agentId, path }),
      ms: last === undefined ? 0 : Math.max(0, record.time - last),
      isRest: !isAtWork || isAsked,
    }
    last = record.time
    if (record.type === 'run.start') isAtWork = true
    else if (record.type === 'run.end') isAtWork = false
    isAsked = pendingIn(agentId, record) !== undefined
  }
}

const longestDefaultMs = 400
const longestRestMs = 1000

/** Returns the pause before a step, in milliseconds. Without a speed, pauses are shortened; idle times always are. Pure. */
export function replayPause({ ms, isRest }: Pick<ReplayStep, 'ms' | 'isRest'>, speed: number | undefined): number {
  if (speed === undefined) return Math.min(ms, longestDefaultMs)
  return speed === 0 ? 0 : (isRest ? Math.min(ms, longestRestMs) : ms) / speed
}

const mostPieces = 40

/** Splits a text at word ends into at most forty pieces. Pure. */
export function textPieces(text: string): string[] {
  const words = text.match(/(?:^\s+)?\S+\s*/g) ?? (text === '' ? [] : [text])
  const size = Math.ceil(words.length / mostPieces)
  const pieces: string[] = []
  for (let i = 0; i < words.length; i += size) pieces.push(words.slice(i, i + size).join(''))
  return pieces
}
