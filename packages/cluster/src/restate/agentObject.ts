import type * as Restate from '@restatedev/restate-sdk'
import { Attempt, type Step } from './attempt.ts'
import {
  requestBodyOf,
  journalled,
  nudging,
  readCarried,
  shortMessage,
  waiting,
  type Carried,
  type Outcome,
} from './carried.ts'
import { refusalOf } from './engineErrors.ts'
import type { WorkerAgents } from './workerAgents.ts'
import { errorInfo } from '../../../../src/protocol/errors.ts'

/** The Restate SDK, which is loaded when it is needed. */
export type Sdk = typeof Restate

/** Times for which the engine waits and keeps requests. */
export interface ObjectTimes {
  /** Maximum time without a message from an agent to the engine, in milliseconds. Models, tools and people may all take long. */
  readonly inactivityMs: number
  /** Time for which the engine recognizes a repeated request, in milliseconds; the log recognizes it for good. */
  readonly idempotencyMs: number
}

/** Parts from which the object of an agent is made. */
export interface ObjectParts {
  readonly name: string
  readonly agents: WorkerAgents
  readonly times: ObjectTimes
}

/** Keys of an object's state: the current invocation, and the outcome of the last one. */
const runningKey = 'running'
const lastKey = 'last'

/** State in which an invocation left an agent. */
interface Last {
  /** Fingerprint of the definition. */
  readonly code: string
  /** Number of sub-agents so far. Those that are agents of their own have been woken. */
  readonly children: number
  /** Time at which the engine was asked to wake the agent. */
  readonly due?: number
}
const signalName = 'nudge'

/** Defines the virtual object of an agent. Its handlers bring commands to the agent, and their journal holds nothing of the conversation. */
export function agentObject(sdk: Sdk, parts: ObjectParts): Restate.VirtualObjectDefinition<string, unknown> {
  const { name, times } = parts
  const { exclusive, shared } = sdk.handlers.object
  const drives = (verb: string): unknown =>
    exclusive(async (ctx: Restate.ObjectContext, body?: unknown) => {
      const wanted = verb === 'carry' ? verbIn(body) : { verb, body }
      return await drive(sdk, parts, ctx, read(sdk, ctx, wanted))
    })
  const nudges = (verb: string): unknown =>
    shared(async (ctx: Restate.ObjectSharedContext, body?: unknown) =>
      nudge(sdk, parts, ctx, read(sdk, ctx, { verb, body })),
    )
  const handlers = Object.fromEntries([
    ...[...waiting, 'open', 'carry'].map((verb) => [verb, drives(verb)] as const),
    ...nudging.map((verb) => [verb, nudges(verb)] as const),
    [
      'snapshot',
      shared(async (ctx: Restate.ObjectSharedContext) => await orTerminal(sdk, parts.agents.stateOf(ctx.key))),
    ],
  ])
  return sdk.object({
    name,
    handlers: handlers as Record<string, (ctx: Restate.ObjectContext) => Promise<unknown>>,
    options: {
      inactivityTimeout: times.inactivityMs,
      abortTimeout: { hours: 24 },
      idempotencyRetention: times.idempotencyMs,
      journalRetention: 0,
      enableLazyState: true,
      retryPolicy: {
        initialInterval: 50,
        exponentiationFactor: 2,
        maxInterval: { seconds: 5 },
        maxAttempts: 1_000_000,
      },
    },
  }) as Restate.VirtualObjectDefinition<string, unknown>
}

interface Wanted {
  readonly verb: string
  readonly body: unknown
}

/** Reads the handler's name from the body of a carried request. */
function verbIn(body: unknown): Wanted {
  const { verb = '', ...rest } = { ...(body as object | undefined) } as { verb?: string }
  return { verb, body: rest }
}

/** Reads the command of a request. An invalid command ends the invocation, because it would be invalid at the next attempt too. */
function read(sdk: Sdk, ctx: Restate.ObjectSharedContext, { verb, body }: Wanted): Carried {
  const { id, idempotencyKey } = ctx.request()
  try {
    return readCarried(ctx.key, verb, body, idempotencyKey ?? id)
  } catch (thrown) {
    throw terminal(sdk, thrown)
  }
}

const terminal = (sdk: Sdk, thrown: unknown): Error =>
  new sdk.TerminalError(shortMessage(thrown), { errorCode: 400, metadata: codeOf(thrown) })

/** Rejects with a terminal error if the next attempt would be refused as well. */
async function orTerminal<T>(sdk: Sdk, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (thrown) {
    throw refusalOf(thrown) === undefined ? thrown : terminal(sdk, thrown)
  }
}

const codeOf = (thrown: unknown): Record<string, string> => {
  const code = refusalOf(thrown)?.code
  return code === undefined ? {} : { code }
}

interface Nudged {
  readonly requestId: string
  readonly nudged: boolean
}

/** Returns the id of the machine to which an agent belongs. The journal keeps the answer. */
async function machineOf(ctx: Restate.ObjectSharedContext, agents: WorkerAgents): Promise<string | undefined> {
  if (!/-\d+-\d+$/.test(ctx.key)) return undefined
  return (await ctx.run('machine', async () => (await agents.machineOf(ctx.key)) ?? null)) ?? undefined
}

/** Has an agent's machine bring the agent a command, and returns the outcome. `carry`: waits until the machine rests. */
async function forward<T>(
  service: string,
  ctx: Restate.Context & { readonly key: string },
  machine: string,
  carried: Carried,
  method?: 'carry',
): Promise<T> {
  const { verb, ...body } = requestBodyOf({ ...carried, to: ctx.key })
  const how = method === undefined ? {} : { idempotencyKey: carried.requestId }
  return await ctx.genericCall<object, T>({
    service,
    method: method ?? verb,
    key: machine,
    parameter: method === undefined ? body : { ...body, verb },
    inputSerde: json,
    outputSerde: json as Restate.Serde<T>,
    ...how,
  })
}

/** Brings a command to an agent at once if it runs, and into its mailbox in any case: a signal to an ended invocation is lost silently. */
async function nudge(
  sdk: Sdk,
  { name: service, agents }: ObjectParts,
  ctx: Restate.ObjectSharedContext,
  carried: Carried,
): Promise<Nudged> {
  const machine = await machineOf(ctx, agents)
  if (machine !== undefined) return await forward<Nudged>(service, ctx, machine, carried)
  const invocation = await ctx.get<string>(runningKey)
  const body = requestBodyOf(carried)
  if (invocation !== null)
    ctx.invocation(sdk.InvocationIdParser.fromString(invocation)).signal(signalName).resolve(body)
  send(service, ctx, ctx.key, carried)
  return { requestId: carried.requestId, nudged: invocation !== null }
}

const json: Restate.Serde<object> = {
  contentType: 'application/json',
  serialize: (value) => Buffer.from(JSON.stringify(value)),
  deserialize: (bytes) => JSON.parse(Buffer.from(bytes).toString()) as object,
}

/** Puts a command into the mailbox of an agent. */
function send(service: string, ctx: Restate.Context, key: string, carried: Carried, delay?: number): void {
  const { requestId: idempotencyKey } = carried
  const body = requestBodyOf(carried)
  ctx.genericSend({
    service,
    method: 'carry',
    key,
    parameter: body,
    inputSerde: json,
    idempotencyKey,
    ...(delay === undefined ? {} : { delay }),
  })
}

/** Runs an agent with a command until it rests. */
async function drive(sdk: Sdk, parts: ObjectParts, ctx: Restate.ObjectContext, first: Carried): Promise<Outcome> {
  const { agents, name } = parts
  const { id: invocation, attemptCompletedSignal } = ctx.request()
  const machine = await machineOf(ctx, agents)
  if (machine !== undefined) return await forward<Outcome>(name, ctx, machine, first, 'carry')
  if (first.command.type === 'open' && first.command.isNew === true && (await isThere(ctx, agents)))
    return {
      status: 'refused',
      seq: 0,
      error: errorInfo('AGENT_EXISTS', `Agent "${ctx.key}" has a log in this store.`),
    }
  if (agents.isLimited && first.command.type === 'agent.prompt') {
    // The journal keeps the answer: a prompt that was taken is carried out, however much waits at the next attempt.
    const error = await ctx.run('room', async () => (await agents.roomFor(ctx.key, first.birth)) ?? null)
    if (error !== null) return { status: 'refused', seq: 0, error }
  }
  ctx.set(runningKey, invocation)
  // An answer of the engine, so that it has noted the above: whoever hears of the run from now on finds the invocation.
  const before = await ctx.get<Last>(lastKey)
  const known = before?.children ?? 0
  const attempt = new Attempt(agents, ctx.key, first, attemptCompletedSignal, known)
  try {
    for (;;) {
      const step = await nextStep(sdk, ctx, attempt)
      if ('begun' in step) {
        for (const agentId of step.begun) send(name, ctx, agentId, wake(`${invocation}/${agentId}`))
        continue
      }
      const { outcome, wakes, code, due, children = known } = step
      if (before !== null && code !== undefined && before.code !== code)
        agents.logger?.warn({ agentId: ctx.key }, 'the definition of this agent is not the one that it ran with before')
      if (wakes !== undefined) send(name, ctx, wakes, wake(`${invocation}/${wakes}`))
      // Its time may have changed since. One that is woken too early is asked for again.
      if (due !== undefined && (before?.due !== due.at || first.command.type === 'wake'))
        send(name, ctx, ctx.key, wake(`${invocation}/due`), due.inMs)
      if (code !== undefined && (before?.code !== code || known !== children || before?.due !== due?.at))
        ctx.set<Last>(lastKey, { code, children, ...(due === undefined ? {} : { due: due.at }) })
      ctx.clear(runningKey)
      return outcome
    }
  } catch (thrown) {
    // Who cancels an invocation wants the agent to end what it does.
    if (thrown instanceof sdk.CancelledError) await attempt.cancel()
    throw thrown
  }
}

/** Returns true if an agent has a log. The journal keeps the first answer, so that a retry is not refused for the log that it began. */
const isThere = (ctx: Restate.ObjectContext, agents: WorkerAgents): Promise<boolean> =>
  ctx.run('look', () => agents.isThere(ctx.key))

const wake = (requestId: string): Carried => ({ requestId, command: { type: 'wake' }, birth: {} })

/** Runs one stretch of the agent's work, during which signals bring it commands. All of them come again after a retry. */
async function nextStep(sdk: Sdk, ctx: Restate.ObjectContext, attempt: Attempt): Promise<Step> {
  const working = ctx.run('drive', async () => shortened(await attempt.next()), { maxRetryInterval: { seconds: 5 } })
  const done = working.map((step, failure) => {
    if (failure !== undefined) throw failure
    return { step: step! }
  })
  for (;;) {
    const nudged = ctx.signal<unknown>(signalName).map((body) => ({ body }))
    const first = await sdk.RestatePromise.race([done, nudged])
    if ('step' in first) return first.step
    attempt.take(readCarried(ctx.key, verbIn(first.body).verb, verbIn(first.body).body, ctx.request().id))
  }
}

const shortened = (step: Step): Step => ('begun' in step ? step : { ...step, outcome: journalled(step.outcome) })
