import {
  agent,
  PROTOCOL_VERSION,
  RequestError,
  type AgentConnection,
  type AgentContext,
  type NewSessionRequest,
  type Stream,
} from '@agentclientprotocol/sdk'
import { RuntimeError, toErrorInfo, type ErrorCode } from '../../../src/protocol/errors.ts'
import { version } from '../../../src/protocol/version.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import { outwardError } from '../../bridge/src/server/outwardError.ts'
import { AcpSession, type SessionHost } from './acpSession.ts'
import { checkFolders, definitionFor, folderNoted, mcpRemark } from './sessionRequest.ts'
import { listPage } from './sessionList.ts'

/** Options of an ACP connection. */
export interface OpenOptions {
  /** Name of the definition that `session/new` spawns if the client names none. Default: the first. */
  readonly definition?: string | undefined
  /** Called once when the client does not read its messages. The connection is then closed. */
  onStuck?(): void
}

/** Serves an ACP client over a stream, within its access. After it closes, the agents continue. */
export function openAcp(stream: Stream, access: AgentAccess, options: OpenOptions = {}): AgentConnection {
  const sessions = new Map<string, AcpSession>()
  let showsCompactions = false
  let hasForms = false
  const connection = agent({ name: 'escapement' })
    .onRequest('initialize', ({ params }) => {
      showsCompactions = params.clientCapabilities?.session?.compaction != null
      hasForms = params.clientCapabilities?.elicitation?.form != null
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: 'escapement', title: 'escapement', version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: true, embeddedContext: true },
          mcpCapabilities: { http: false, sse: false },
          sessionCapabilities: { list: {}, resume: {}, close: {} },
        },
        authMethods: [],
        _meta: { escapement: { definitions: access.knownDefinitions, may: [...access.rights] } },
      }
    })
    .onRequest('session/new', ({ params, client }) =>
      answer(undefined, async () => {
        access.must('spawn', 'session/new')
        const definition = definitionFor(access, params, options.definition)
        checkRoom()
        checkFolders(params)
        const metadata = folderNoted(params, access.metadata)
        const session = open(await access.begin(definition, { metadata }), client)
        remarkOn(session, params)
        return { sessionId: session.id, ...session.modes, _meta: { escapement: { definition } } }
      }),
    )
    .onRequest('session/load', ({ params, client }) =>
      answer(params.sessionId, async () => {
        const session = await reopen(params, client)
        await session.replay()
        return { ...session.modes, _meta: { escapement: { definition: session.definition } } }
      }),
    )
    .onRequest('session/resume', ({ params, client }) =>
      answer(params.sessionId, async () => {
        const session = await reopen({ ...params, mcpServers: params.mcpServers ?? [] }, client)
        return { ...session.modes, _meta: { escapement: { definition: session.definition } } }
      }),
    )
    .onRequest('session/list', ({ params }) =>
      answer(undefined, () => {
        access.must('see.messages', 'session/list')
        return listPage(access, params)
      }),
    )
    .onRequest('session/prompt', ({ params, signal }) =>
      answer(params.sessionId, () => {
        access.must('talk', 'session/prompt')
        return sessionOf(params.sessionId).prompt(params.prompt, signal)
      }),
    )
    .onRequest('session/set_mode', ({ params }) =>
      answer(params.sessionId, async () => {
        access.must('control', 'session/set_mode')
        await sessionOf(params.sessionId).setMode(params.modeId)
        return {}
      }),
    )
    .onRequest('session/close', ({ params }) =>
      answer(params.sessionId, async () => {
        access.must('control', 'session/close')
        await sessionOf(params.sessionId).end()
        sessions.delete(params.sessionId)
        return {}
      }),
    )
    // A notification has no answer: one for a session that is not open here, or without the right, does nothing.
    .onNotification('session/cancel', ({ params }) => {
      if (access.may('talk')) sessions.get(params.sessionId)?.cancel()
    })
    .connect(stream)

  void connection.closed.then(() => {
    for (const session of sessions.values()) session.detach()
    sessions.clear()
  })
  return connection

  function open(found: Awaited<ReturnType<AgentAccess['driven']>>, client: AgentContext): AcpSession {
    const host: SessionHost = {
      access,
      client,
      showsCompactions,
      hasForms,
      isClosed: () => connection.signal.aborted,
      disconnect,
    }
    const session = new AcpSession(found, host)
    sessions.set(session.id, session)
    if (connection.signal.aborted) session.detach()
    return session
  }

  async function reopen(params: NewSessionRequest & { sessionId: string }, client: AgentContext): Promise<AcpSession> {
    checkFolders(params)
    const known = sessions.get(params.sessionId)
    if (known === undefined) checkRoom()
    const found = await access.reading(params.sessionId)
    if (found.path.length > 0) {
      throw new RuntimeError(
        'AGENT_NOT_FOUND',
        `Agent "${params.sessionId}" is a sub-agent: a session is a root agent.`,
      )
    }
    const session = sessions.get(found.id) ?? open(found, client)
    session.attach(found)
    remarkOn(session, params)
    // After the answer was sent: before, the client may not be able to show a request.
    setImmediate(() => session.askPending())
    return session
  }

  function sessionOf(sessionId: string): AcpSession {
    const session = sessions.get(sessionId)
    if (session !== undefined) return session
    throw new RequestError(notFound, `Session "${sessionId}" is not open here: session/new or session/load opens it.`, {
      sessionId,
      code: 'AGENT_NOT_FOUND',
    })
  }

  function checkRoom(): void {
    const { subscriptions } = access.limits
    if (sessions.size < subscriptions) return
    throw new RuntimeError('BRIDGE_LIMIT', `This connection has ${subscriptions} sessions open, the most allowed.`)
  }

  function remarkOn(session: AcpSession, { mcpServers }: Pick<NewSessionRequest, 'mcpServers'>): void {
    const remark = mcpRemark(mcpServers)
    if (remark !== undefined) session.remark(remark)
  }

  function disconnect(): void {
    options.onStuck?.()
    connection.close(new Error('the client does not read'))
  }
}

/** Answers a request. A thrown value becomes the error of the response. */
async function answer<T>(sessionId: string | undefined, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    throw toRequestError(thrown, sessionId)
  }
}

const invalidRequest = -32600
const invalidParams = -32602
const internal = -32603
const notFound = -32002

/** Errors caused by the client, as codes of JSON-RPC and ACP. */
const rpcCodes: { readonly [C in ErrorCode]?: number } = {
  AGENT_NOT_FOUND: notFound,
  AGENT_STOPPED: notFound,
  INVALID_CONTENT: invalidParams,
  PROMPT_TOO_LARGE: invalidParams,
  INVALID_OPTION: invalidParams,
  INVALID_ID: invalidParams,
  AGENT_EXISTS: invalidParams,
  AGENT_PAUSED: invalidRequest,
  QUEUE_FULL: invalidRequest,
  BRIDGE_FORBIDDEN: invalidRequest,
  BRIDGE_LIMIT: invalidRequest,
}

/** Converts any thrown value to the error of a request, with our code and the session in `data`. */
function toRequestError(thrown: unknown, sessionId?: string): RequestError {
  if (thrown instanceof RequestError) return thrown
  const { code, message } = outwardError(toErrorInfo(thrown, 'INTERNAL'))
  const rpcCode = thrown instanceof RuntimeError ? (rpcCodes[thrown.code] ?? internal) : internal
  return new RequestError(rpcCode, message, sessionId === undefined ? { code } : { code, sessionId })
}
