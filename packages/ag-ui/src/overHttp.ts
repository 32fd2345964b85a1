import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Event, type RunAgentInput, EventType } from '@ag-ui/core'
import { errorInfo, hasCode, type ErrorInfo } from '../../../src/protocol/errors.ts'
import type { OpenResponse } from '../../bridge/src/server/endpoint.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import { bodyOf } from '../../bridge/src/server/requestBody.ts'
import { closeUnread, refusalText, statusOf, wrongContentType } from '../../bridge/src/streams/httpRefusals.ts'
import { EventStream } from '../../bridge/src/streams/eventStream.ts'
import type { AgUiRun } from './agUiRun.ts'
import { asLook, askedAt, askedIn, definitionOf, infoOf, runToStop, type Asked } from './places.ts'
import { readBody, readInput } from './readInput.ts'
import { RunView } from './runView.ts'
import type { Rules } from './threads.ts'
import { isLook, nothingOf, stopRun } from './watchRun.ts'
import { piecesOf, serverSent } from '../../bridge/src/streams/piecesOf.ts'

/** Yields a server-sent event in pieces: a conversation is turned into text one message at a time. */
function* eventText(event: Event): Generator<string, void, undefined> {
  if (event.type !== EventType.MESSAGES_SNAPSHOT) return yield* serverSent(event)
  const { messages, ...rest } = event
  let before = `data: ${JSON.stringify(rest).slice(0, -1)},"messages":[`
  for (const message of messages) {
    yield* piecesOf(before + JSON.stringify(message))
    before = ','
  }
  yield before === ',' ? ']}\n\n' : `${before}]}\n\n`
}

/** A request with its response. */
interface Exchanged {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly access: AgentAccess
  readonly connection: OpenResponse
  readonly rules: Rules
  open(input: RunAgentInput, rules: Rules): Promise<AgUiRun>
  /** True if a client that leaves aborts its run. */
  readonly abortOnLeave: boolean
}

/** Answers a `RunAgentInput` with its run as server-sent events, what clients of CopilotKit ask for besides, and refusals with a status and `{ code, message }`. */
export async function overHttp(exchanged: Exchanged, path: string): Promise<void> {
  const { request, response, access } = exchanged
  try {
    const asked = askedAt(new URL(request.url ?? '', 'http://localhost').pathname, path)
    const method = asked.type === 'info' ? 'GET' : 'POST'
    if (request.method !== method) {
      response.setHeader('allow', `${method}, OPTIONS`)
      return answerError(response, errorInfo('BRIDGE_FRAME', `This is for ${method}, not ${request.method}.`), 405)
    }
    if (asked.type === 'info') return answerInfo(exchanged)
    const wrong = wrongContentType(request)
    if (wrong !== undefined) return answerError(response, errorInfo('BRIDGE_FRAME', wrong), 415)
    const text = await bodyOf(request, access.limits.frameBytes)
    if (text === undefined) return
    // An end may be asked for without a body.
    const body = asked.type === 'stop' && text === '' ? undefined : readBody(text, access.limits.depth)
    const isPlain = asked.type === 'run' && asked.agent === undefined
    await answer(exchanged, (isPlain ? askedIn(body) : undefined) ?? { ...asked, body })
  } catch (thrown) {
    if (response.headersSent) throw thrown
    closeUnread(request, response)
    answerError(response, access.outward(thrown))
  }
}

async function answer(exchanged: Exchanged, asked: Asked): Promise<void> {
  const { access, response } = exchanged
  if (asked.type === 'info') return answerInfo(exchanged)
  const rules = { ...exchanged.rules, definition: definitionOf(access, asked.agent, exchanged.rules.definition) }
  if (asked.type === 'stop') {
    const { threadId } = asked
    const stopped = await stopRun(access, { threadId, runId: runToStop(asked.body) }, rules)
    return answerJson(response, 200, { stopped })
  }
  const input = readInput(asked.body)
  await show({ ...exchanged, rules }, asked.type === 'connect' ? asLook(input) : input)
}

/** Streams a run to its client. */
async function show(
  { response, access, rules, connection, open, abortOnLeave }: Exchanged,
  input: RunAgentInput,
): Promise<void> {
  const stream = (): EventStream<Event> =>
    new EventStream(response, { clock: access.clock, everyMs: access.limits.pingMs, textOf: eventText })
  let run: AgUiRun
  try {
    run = await open(input, rules)
  } catch (thrown) {
    if (!isLook(input) || !hasCode(thrown, 'AGENT_NOT_FOUND')) throw thrown
    const empty = stream()
    for (const event of nothingOf(input)) empty.write(event)
    return empty.end()
  }
  if (response.destroyed) {
    run.takeBacklog()
    return abortOnLeave ? run.leftBy() : undefined
  }
  const view = new RunView(run, stream())
  response.on('close', () => {
    if (abortOnLeave && view.isOpen) run.leftBy(view)
    view.close()
  })
  connection.onLeave(() => view.leave())
  view.start(input)
}

const answerInfo = ({ response, access, rules }: Exchanged): void =>
  answerJson(response, 200, infoOf(access, rules.definition))

/** Answers with an error as JSON. */
const answerError = (response: ServerResponse, { code, message }: ErrorInfo, status: number = statusOf(code)): void =>
  answerJson(response, status, { code, message: refusalText({ code, message }, 'escapement/docs/agUi.md') })

function answerJson(response: ServerResponse, status: number, value: object): void {
  if (response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
  response.end(JSON.stringify(value))
}
