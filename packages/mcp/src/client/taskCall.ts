import { createHash, randomUUID } from 'node:crypto'
import type { Client } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { pause } from '../../../../src/protocol/ports/pause.ts'
import type { ToolContext } from '../../../../src/actors/tools/defineTool.ts'
import type { InnerCalls } from '../../../../src/actors/tools/innerCalls.ts'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { beganOnce } from '../beganOnce.ts'
import { progressTo, type ServerCall } from './callServer.ts'
import type { AskingCall } from './elicitation.ts'
import { unanswered } from './httpTransport.ts'
import { callResultSchema, type CallResult } from './resultBlocks.ts'
import type { Server } from './server.ts'
import { traceparent } from './traceparent.ts'

/** Note of a task in the log, which is about to begin or has an id from the server. `asking`: fingerprint of the question for people. */
const handleSchema = lazily(() =>
  z.object({
    /** Value by which a server recognizes repeated requests to begin the same task. */
    once: z.string(),
    taskId: z.string().optional(),
    /** Milliseconds for which the server keeps the task; null: for ever. */
    ttl: z.number().nullish(),
    asking: z.string().optional(),
  }),
)
type Handle = z.infer<ReturnType<typeof handleSchema>>

const taskSchema = z.looseObject({
  taskId: z.string().min(1).max(1_000),
  status: z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']),
  statusMessage: z.string().optional().catch(undefined),
  ttl: z.number().nullish().catch(undefined),
  pollInterval: z.number().optional().catch(undefined),
})
type Task = z.infer<typeof taskSchema>

/** Answer to a call that requested a task: some servers answer at once. */
const createdSchema = z.union([z.object({ task: taskSchema }), callResultSchema.transform((result) => ({ result }))])

/** Time for which the server is asked to keep a task, in milliseconds, so that a restarted process finds it. */
const wantedTtl = 86_400_000
/** Intervals between polls of a task, in milliseconds: the minimum, the default, and the maximum, whatever the server asks for. */
const pollMs = [100, 1_000, 30_000] as const
/** Maximum number of consecutive polls without an answer, with 0.5 s to 10 s between them. */
const mostFailures = 20
/** Time limit for a server to accept a cancellation, in milliseconds. */
const cancelMs = 2_000

type Asked<T> = { readonly answer: T } | { readonly refusal: string }
type Using = <T>(
  context: Pick<ToolContext, 'signal'>,
  use: (server: Server, options: { readonly signal: AbortSignal; readonly timeout: number }) => Promise<T>,
) => Promise<T>

/** Surroundings of a call that runs as a task. */
export interface TaskHost {
  /** Name of the server. */
  readonly server: string
  readonly clock: Clock
  readonly context: ToolContext
  /** Makes records for the call. Missing for a call made by another call, which is not found again after a crash. */
  readonly calls: InnerCalls | undefined
  /** Note that the call left before a restart. */
  readonly known: unknown
  /** Uses the server once it is connected; rejects with a readable error. */
  readonly using: Using
  clean<T>(value: T): T
}

/** A call that the server carries out as a task. It is begun once, and found again by its id after a crash. */
export class TaskCall implements AskingCall {
  readonly #call: ServerCall
  readonly #host: TaskHost
  readonly #known: Handle | undefined
  #handle: Handle
  readonly #progress: (news: { readonly progress: number; readonly total?: number; readonly message?: string }) => void
  #told = ''
  /** True while the result is requested. A server also uses that request to ask people. */
  #isOpen = false
  #result: Asked<CallResult> | undefined
  #wake: () => void = () => {}
  /** True if the server has sent news since the last poll. */
  #hasNews = false

  constructor(call: ServerCall, host: TaskHost) {
    this.#call = call
    this.#host = host
    const known = handleSchema().safeParse(host.known)
    this.#known = known.success ? known.data : undefined
    this.#handle = this.#known ?? { once: randomUUID() }
    this.#progress = progressTo(host.context, () => host.clock.now())
  }

  get signal(): AbortSignal {
    return this.#host.context.signal
  }

  /** Id of the task, once known. */
  get taskId(): string | undefined {
    return this.#handle.taskId
  }

  /** Takes a notification of the server; returns true if it is about this task. */
  told(method: string, params: { readonly [field: string]: unknown }): boolean {
    if (method === 'notifications/progress') {
      if (params['progressToken'] !== this.#handle.once) return false
      this.#progress(this.#host.clean(params) as never)
    } else if (params['taskId'] !== this.#handle.taskId) return false
    else this.#news()
    return true
  }

  /** Asks people a question, or takes the answer that the call got before a restart. */
  readonly ask: ToolContext['ask'] = async (schema, question) => {
    const { calls, context } = this.#host
    if (calls === undefined) return context.ask(schema, question)
    const asking = createHash('sha256').update(question).digest('base64url')
    const isAgain = this.#handle.asking === asking
    if (!isAgain) await this.#note({ asking })
    try {
      return await calls.ask(schema, question, isAgain)
    } finally {
      // The same words may come again as another question.
      if (!this.signal.aborted) await this.#note({ asking: undefined })
    }
  }

  /** Resolves with the result. Rejects with a readable error, and when the call is aborted; then the task is cancelled. */
  async run(): Promise<CallResult> {
    try {
      return await this.#run()
    } finally {
      if (this.signal.aborted) await this.#cancel()
    }
  }

  async #run(): Promise<CallResult> {
    const begun = await this.#begun()
    if ('result' in begun) return begun.result
    for (let { task } = begun; ; task = await this.#look()) {
      this.signal.throwIfAborted()
      this.#tell(task)
      if (isOver(task)) return this.#end(task)
      if (task.status === 'input_required' && !this.#isOpen) void this.#open()
      await this.#rest(task)
      if (this.#result !== undefined) return this.#taken(this.#result, task)
    }
  }

  /** Begins the task, unless the call began it before a restart. */
  async #begun(): Promise<{ readonly task: Task } | { readonly result: CallResult }> {
    const known = this.#known
    if (known?.taskId !== undefined) return { task: await this.#look() }
    if (known !== undefined && !this.#call.mayRepeat && !(await this.#isBegunOnce()))
      throw new Error(
        `The MCP server "${this.#host.server}" was being told to begin a task when this process ended: it is not known whether it did.`,
      )
    if (known === undefined) await this.#note({})
    const created = await this.#create()
    if ('result' in created) return created
    const { taskId, ttl } = created.task
    await this.#note({ taskId, ttl })
    return created
  }

  /** Requests the server to begin the task. Without an answer, repeats that for a server that begins it once. */
  async #create(): Promise<z.infer<typeof createdSchema>> {
    const { name, input } = this.#call
    const { once } = this.#handle
    const meta = {
      'escapement/key': this.#host.context.key,
      [beganOnce]: once,
      progressToken: once,
      ...(await traceparent()),
    }
    const params = { name, arguments: input as object, task: { ttl: wantedTtl }, _meta: meta }
    const asked = await this.#asked('tools/call', params, createdSchema, beginsOnce)
    if ('answer' in asked) return asked.answer
    throw new Error(`The MCP server "${this.#host.server}" failed: ${asked.refusal}`)
  }

  #isBegunOnce(): Promise<boolean> {
    return this.#host.using(this.#host.context, async ({ client }) => beginsOnce(client))
  }

  #news(): void {
    this.#hasNews = true
    this.#wake()
  }

  async #look(): Promise<Task> {
    this.#hasNews = false
    const asked = await this.#about('tasks/get', taskSchema)
    if ('answer' in asked) return asked.answer
    const { taskId, ttl } = this.#handle
    const kept = typeof ttl === 'number' ? ` (it keeps a task for ${ttl / 1_000} s)` : ''
    throw new Error(
      `The MCP server "${this.#host.server}" no longer has the task ${JSON.stringify(taskId)}${kept}: ${asked.refusal}. What came of it is not known.`,
    )
  }

  /** Asks about the task until the server answers. The task runs on whatever happens to the connection. */
  #about<T>(method: string, schema: z.ZodType<T>): Promise<Asked<T>> {
    return this.#asked(method, { taskId: this.#handle.taskId }, schema, () => true)
  }

  /** Asks the server until it answers, if `mayRepeat` allows that. */
  async #asked<T>(
    method: string,
    params: object,
    schema: z.ZodType<T>,
    mayRepeat: (client?: Client) => boolean,
  ): Promise<Asked<T>> {
    const { context, using, clock } = this.#host
    let isRepeatable = mayRepeat()
    for (let failures = 0, wait = 500; ; failures += 1, wait = Math.min(wait * 1.5, 10_000)) {
      try {
        return await using(context, async ({ client, sdk }, options) => {
          isRepeatable = mayRepeat(client)
          try {
            return { answer: await request(client, method, params, schema, options) }
          } catch (thrown) {
            if (!sdk.ProtocolError.isInstance(thrown) || thrown.message.includes(unanswered)) throw thrown
            return { refusal: this.#host.clean(messageOf(thrown)) }
          }
        })
      } catch (thrown) {
        if (this.signal.aborted || !isRepeatable || failures >= mostFailures) throw thrown
        await pause(wait, clock, this.signal)
      }
    }
  }

  /** Requests the result, which is answered once there is one. Never rejects. */
  async #open(): Promise<void> {
    this.#isOpen = true
    try {
      this.#result = await this.#about('tasks/result', callResultSchema)
      this.#news()
    } catch {
      this.#isOpen = false
    }
  }

  async #end(task: Task): Promise<CallResult> {
    if (task.status === 'cancelled') throw new Error(this.#words(task, 'was cancelled by the server'))
    return this.#taken(this.#result ?? (await this.#about('tasks/result', callResultSchema)), task)
  }

  #taken(result: Asked<CallResult>, task: Task): CallResult {
    if ('answer' in result) return result.answer
    throw new Error(this.#words(task, task.status === 'failed' ? 'failed' : `has no result: ${result.refusal}`))
  }

  #words({ taskId, statusMessage = '' }: Task, what: string): string {
    const said = statusMessage === '' ? '' : `: ${this.#host.clean(statusMessage)}`
    return `The task ${JSON.stringify(taskId)} of the MCP server "${this.#host.server}" ${what}${said}`
  }

  #tell({ status, statusMessage = '' }: Task): void {
    const told = `${status} ${statusMessage}`
    if (told === this.#told) return
    this.#told = told
    const message = statusMessage === '' ? {} : { message: this.#host.clean(statusMessage) }
    this.#host.context.report({ status, ...message })
  }

  /** Waits until the next poll is due, or there is news. */
  async #rest({ pollInterval = pollMs[1] }: Task): Promise<void> {
    const rested = new AbortController()
    this.#wake = () => rested.abort()
    if (this.#hasNews) return
    const ms = Math.min(Math.max(pollInterval, pollMs[0]), pollMs[2])
    await pause(ms, this.#host.clock, AbortSignal.any([this.signal, rested.signal]))
  }

  async #note(change: Partial<Handle>): Promise<void> {
    this.#handle = { ...this.#handle, ...change }
    const { calls, context, server } = this.#host
    const { once, taskId: childId = once } = this.#handle
    const handle = JSON.parse(JSON.stringify(this.#handle)) as unknown
    const name = this.#call.shown
    await calls?.record([
      { type: 'child.noted', callId: context.callId, key: calls.key, name, childId, protocol: `mcp ${server}`, handle },
    ])
  }

  /** Cancels the task at the server. Never rejects. */
  async #cancel(): Promise<void> {
    const { taskId } = this.#handle
    if (taskId === undefined) return
    const signal = AbortSignal.timeout(cancelMs)
    await this.#host
      .using({ signal }, ({ client }) => request(client, 'tasks/cancel', { taskId }, z.unknown(), { signal }))
      .catch(() => {})
  }
}

const over: ReadonlySet<Task['status']> = new Set(['completed', 'failed', 'cancelled'])
const isOver = ({ status }: Task): boolean => over.has(status)

const beginsOnce = (client?: Client): boolean =>
  Object.hasOwn(client?.getServerCapabilities()?.experimental ?? {}, beganOnce)

/** Sends a request that the SDK has no method for. */
function request<T>(
  client: Client,
  method: string,
  params: object,
  schema: z.ZodType<T>,
  options: { readonly signal: AbortSignal; readonly timeout?: number },
): Promise<T> {
  return client.request<z.ZodType<T>>({ method, params: params as { [name: string]: unknown } }, schema, options)
}
