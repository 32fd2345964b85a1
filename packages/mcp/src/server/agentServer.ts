import type {
  CallToolRequest,
  CallToolResult,
  ClientCapabilities,
  InputRequiredResult,
  ServerContext,
  Tool,
} from '@modelcontextprotocol/server'
import { version } from '../../../../src/protocol/version.ts'
import type { AgentAccess } from '../../../bridge/src/server/agentAccess.ts'
import { errorAnswer } from './answers.ts'
import type { Caller } from './callAgent.ts'
import { offerStates } from './offerStates.ts'
import { answerWithTask, isForTask, offerTasks, taskCapabilities, tellingTasks, type TellTask } from './offerTasks.ts'
import { inAllRounds, inOneRound, readState, type Rounds } from './rounds.ts'
import { ProgressTeller, progressOf } from './progress.ts'
import type { Sdk, ServerParts, ServerUse } from './serverParts.ts'
import { haveState } from './stateResources.ts'

/** An MCP server whose tools are agents. */
export function agentServer(parts: ServerParts, use: ServerUse): InstanceType<Sdk['Server']> {
  const { sdk, name, tools } = parts
  const hasState = haveState(tools)
  const server = new sdk.Server(
    { name, title: name, version },
    {
      capabilities: {
        tools: {},
        ...(hasState ? { resources: { subscribe: true } } : {}),
        ...(use.era === 'legacy' ? taskCapabilities : {}),
      },
      instructions:
        'Each tool is an agent: give it a task. Its answer names a session; give that along with the next task to go on with the same agent, which remembers.',
      inputRequired: { legacyShim: false },
    },
  )
  const closed = new AbortController()
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no EventTarget
  server.onclose = () => closed.abort()
  const tellTask = tellingTasks(server, closed.signal)
  const mayAsk = (ctx: ServerContext): boolean => {
    const told = ctx.mcpReq.envelope as { readonly [key: string]: ClientCapabilities | undefined } | undefined
    return parts.asksClient && hasForms(told?.[sdk.CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities())
  }
  server.setRequestHandler('tools/list', (_, ctx) => ({ tools: toolsFor(parts, use, use.visitOf(ctx).access) }))
  server.setRequestHandler('tools/call', async (request, ctx) => {
    use.busy?.(1)
    try {
      return await answerCall(parts, use, { request, ctx, mayAsk: mayAsk(ctx), tellTask })
    } finally {
      use.busy?.(-1)
    }
  })
  if (hasState) offerStates(server, parts, use, closed.signal)
  if (use.era === 'legacy') offerTasks(server, parts, use, { mayAsk, tellTask })
  return server
}

/** Returns the tools that a client may call. Only clients that may spawn an agent get its description. */
function toolsFor({ tools }: ServerParts, { era }: ServerUse, access: AgentAccess): Tool[] {
  if (!access.may('talk')) return []
  const known = new Set(access.knownDefinitions)
  const within = [...tools.values()].filter(({ definition }) => known.has(definition.name))
  const asTask = era === 'legacy' ? { execution: { taskSupport: 'optional' as const } } : {}
  return within.map(({ spec }) => ({ ...spec, ...asTask, ...(access.may('spawn') ? {} : { description: ofSession }) }))
}

const ofSession = 'An agent that is there already: name its session.'

interface CallRequest {
  readonly request: CallToolRequest
  readonly ctx: ServerContext
  /** True if people can be asked through the client. */
  readonly mayAsk: boolean
  readonly tellTask: TellTask
}

async function answerCall(
  parts: ServerParts,
  use: ServerUse,
  { request, ctx, mayAsk, tellTask }: CallRequest,
): Promise<CallToolResult | InputRequiredResult> {
  const { sdk, tools } = parts
  const { name, arguments: input } = request.params
  const tool = tools.get(name)
  const visit = use.visitOf(ctx)
  if (tool === undefined) {
    const there = [...tools.keys()].join(', ')
    const { InvalidParams } = sdk.ProtocolErrorCode
    throw new sdk.ProtocolError(InvalidParams, `There is no tool ${JSON.stringify(name)} (there are: ${there}).`)
  }
  if (use.era === 'legacy' && isForTask(request)) return answerWithTask(parts, tool, request, { use, ctx, tellTask })
  const { signal } = ctx.mcpReq
  const teller = tellerOf(ctx)
  const caller: Caller = {
    access: visit.access,
    signal,
    isCancelled: () => !visit.isLeaving && isCancellation(sdk, use, ctx),
    began: teller.began,
    tell: teller.tell,
  }
  const rounds: Rounds = { tool, caller, ctx, mayAsk }
  try {
    const state = readState(ctx.mcpReq.requestState(), tool, visit.access)
    if (state === 'unreadable')
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, 'requestState: it is none of this server.')
    const wanted = tool.read(input)
    if (wanted.type === 'wrong') return errorAnswer({ code: 'INVALID_OPTION', message: wanted.message })
    return await (use.era === 'modern' ? inOneRound(rounds, wanted, state) : inAllRounds(rounds, wanted))
  } catch (thrown) {
    if (thrown instanceof sdk.ProtocolError) throw thrown
    return errorAnswer(visit.access.outward(thrown))
  } finally {
    teller.end()
  }
}

/** Returns true if an aborted request was cancelled by the client, and not cut off with its connection. */
function isCancellation(sdk: Sdk, { era }: ServerUse, { http, mcpReq }: ServerContext): boolean {
  // Over HTTP the newer protocol has no other way to cancel than to close the answer.
  if (era === 'modern' && http !== undefined) return true
  const reason: unknown = mcpReq.signal.reason
  return !(reason instanceof sdk.SdkError && reason.code === sdk.SdkErrorCode.ConnectionClosed)
}

/** Returns true if a client supports forms. Elicitation without a mode means forms. */
const hasForms = (capabilities: ClientCapabilities | undefined): boolean => {
  const elicitation = capabilities?.elicitation
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}

function tellerOf({ mcpReq: { _meta, notify } }: ServerContext): Pick<Caller, 'began' | 'tell'> & { end(): void } {
  const progressToken = _meta?.progressToken
  if (progressToken === undefined) return { began: () => {}, tell: () => {}, end: () => {} }
  const teller = new ProgressTeller((progress, message) =>
    notify({ method: 'notifications/progress', params: { progressToken, progress, message } }),
  )
  let isNamed = false
  return {
    began(session) {
      if (!isNamed) teller.tell(`session: ${session}`)
      isNamed = true
    },
    tell(event) {
      const message = progressOf(event, event.path[0] ?? event.agentId)
      if (message !== undefined) teller.tell(message)
    },
    end: () => teller.end(),
  }
}
