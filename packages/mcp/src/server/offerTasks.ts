import type { CallToolRequest, CallToolResult, Server, ServerContext } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { beganOnce } from '../beganOnce.ts'
import { AgentTasks } from './agentTasks.ts'
import { followTask } from './followTask.ts'
import type { TaskView } from './taskView.ts'
import type { AgentTool } from './agentTool.ts'
import { answerOf } from './answers.ts'
import { answerAgent, type Caller } from './callAgent.ts'
import { followRun } from './followRun.ts'
import { refusalOf } from './offerStates.ts'
import { inRounds, relatedTo } from './rounds.ts'
import type { ServerParts, ServerUse } from './serverParts.ts'

/** Capabilities of a server for clients of 2025-11-25. */
export const taskCapabilities = {
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
  experimental: { [beganOnce]: {} },
} as const

const wantsTask = lazily(() => z.looseObject({ task: z.looseObject({}) }))
const idSchema = lazily(() => z.looseObject({ taskId: z.string() }))
const listSchema = lazily(() => z.looseObject({ cursor: z.string().optional() }))

/** Returns true for a call whose client will ask for the result later. */
export const isForTask = ({ params }: CallToolRequest): boolean => wantsTask().safeParse(params).success

/** Begins a task, and answers with it. Rejects with a protocol error. */
export async function answerWithTask(
  parts: ServerParts,
  tool: AgentTool,
  { params }: CallToolRequest,
  { use, ctx, tellTask }: { readonly use: ServerUse; readonly ctx: ServerContext; readonly tellTask: TellTask },
): Promise<CallToolResult> {
  const { access } = use.visitOf(ctx)
  const wanted = tool.read(params.arguments)
  if (wanted.type === 'wrong') throw invalid(parts, wanted.message)
  // oxlint-disable-next-line no-underscore-dangle -- the protocol's name
  const once = ctx.mcpReq._meta?.[beganOnce]
  const view = await refused(parts, use, ctx, () => new AgentTasks(access, parts.tools).begin(tool, wanted, once))
  const { statusMessage: _, ...task } = await view.read()
  tellTask(view)
  // The protocol wants every task to begin at work; the SDK lets no answer to a call pass that has no content.
  return { content: [], task: { ...task, status: 'working' } }
}

/** Notifies a client of every change of a task. */
export type TellTask = (view: TaskView) => void

/** Returns a function that notifies the client of a connection of its tasks, until `closed` is aborted. */
export const tellingTasks =
  (server: Server, closed: AbortSignal): TellTask =>
  (view) =>
    void tellAll(server, view, closed).catch(() => {})

async function tellAll(server: Server, view: TaskView, closed: AbortSignal): Promise<void> {
  for await (const task of followTask(view, closed))
    // The types of the SDK know nothing of tasks.
    await server.notification({ method: 'notifications/tasks/status', params: task } as unknown as Told)
}

type Told = Parameters<Server['notification']>[0]

/** The client of a connection. */
interface Client {
  /** Returns true if people can be asked through the client. */
  readonly mayAsk: (ctx: ServerContext) => boolean
  readonly tellTask: TellTask
}

/** Offers the tasks of agents to a client of 2025-11-25. */
export function offerTasks(server: Server, parts: ServerParts, use: ServerUse, client: Client): void {
  const tasks = (ctx: ServerContext): AgentTasks => new AgentTasks(use.visitOf(ctx).access, parts.tools)
  const answering = <T>(ctx: ServerContext, answer: () => Promise<T>): Promise<T> => refused(parts, use, ctx, answer)
  server.setRequestHandler('tasks/get', { params: idSchema() }, ({ taskId }, ctx) =>
    answering(ctx, async () => ({ ...(await (await tasks(ctx).get(taskId)).read()) })),
  )
  server.setRequestHandler('tasks/list', { params: listSchema() }, ({ cursor }, ctx) =>
    answering(ctx, () => tasks(ctx).list(cursor)),
  )
  server.setRequestHandler('tasks/cancel', { params: idSchema() }, ({ taskId }, ctx) =>
    answering(ctx, async () => ({ ...(await tasks(ctx).cancel(taskId, ctx.mcpReq.signal)) })),
  )
  server.setRequestHandler('tasks/result', { params: idSchema() }, async ({ taskId }, ctx) => {
    use.busy?.(1)
    try {
      return await answering(ctx, () => resultOf(tasks(ctx), taskId, use, ctx, client.mayAsk(ctx)))
    } finally {
      use.busy?.(-1)
    }
  })
}

/** Resolves with the result of a task once it is over. Meanwhile people are asked, if that is possible through the client. */
async function resultOf(
  tasks: AgentTasks,
  taskId: string,
  use: ServerUse,
  ctx: ServerContext,
  mayAsk: boolean,
): Promise<CallToolResult> {
  const view = await tasks.get(taskId)
  const { tool } = await tasks.find(taskId)
  await view.read()
  const { access } = use.visitOf(ctx)
  const { signal } = ctx.mcpReq
  // Who asks for a result and leaves has not cancelled the task.
  const caller: Caller = { access, signal, isCancelled: () => false, began: () => {}, tell: () => {} }
  const place = { session: view.agent.id, requestId: view.place.requestId }
  if (mayAsk && access.may('talk') && view.result === undefined)
    await inRounds({ tool, caller, ctx, mayAsk, taskId }, () => answerAgent(tool, place, {}, caller))
  const result = await followRun({ access, agent: view.agent, definition: tool.definition }, place.requestId, signal)
  return { ...answerOf({ type: 'over', ...place, result }), _meta: relatedTo(taskId) }
}

/** Converts a refusal to a protocol error. */
async function refused<T>(
  parts: ServerParts,
  use: ServerUse,
  ctx: ServerContext,
  answer: () => Promise<T>,
): Promise<T> {
  try {
    return await answer()
  } catch (thrown) {
    if (thrown instanceof parts.sdk.ProtocolError) throw thrown
    throw invalid(parts, refusalOf(use.visitOf(ctx).access, thrown))
  }
}

const invalid = ({ sdk }: ServerParts, message: string): Error =>
  new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, message)
