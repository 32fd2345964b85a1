import {
  client,
  type AnyMessage,
  type ClientConnection,
  type InitializeRequest,
  type NewSessionRequest,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
  type Stream,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
} from '@agentclientprotocol/sdk'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { systemClock } from '../../../src/protocol/ports/clock.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { openAcp, type OpenOptions } from '../src/openAcp.ts'
import type { Grant } from '../../bridge/src/server/roles.ts'
import { Bridge } from '../../bridge/src/server/bridge.ts'
import { limitsOf, type BridgeLimits } from '../../bridge/src/server/limits.ts'
import { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import { createRuntime, type Runtime } from '../../bridge/src/createRuntime.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import type { CaseContext } from '../../../test/support/suite.ts'

/** Somebody's editor, as far as a test wants it. */
export interface Editor {
  readonly connection: ClientConnection
  readonly agent: ClientConnection['agent']
  readonly updates: readonly SessionUpdate[]
  readonly asked: readonly RequestPermissionRequest[]
  /** Resolves once a question was taken back. */
  readonly takenBack: Promise<void>
  /** Resolves with the first update, past or to come, that fits. */
  until(fits: (update: SessionUpdate) => boolean): Promise<SessionUpdate>
  /** Resolves with the question of this number, from 1, once it is asked. */
  question(number: number): Promise<RequestPermissionRequest>
  /** Opens a session, and gives its id. */
  open(meta?: Record<string, unknown>): Promise<string>
  say(sessionId: string, text: string): ReturnType<typeof promptText>
  text(kind?: SessionUpdate['sessionUpdate']): string
}

export type Answer = (
  question: RequestPermissionRequest,
) => RequestPermissionResponse | Promise<RequestPermissionResponse>

export const choose = (optionId: string): RequestPermissionResponse => ({ outcome: { outcome: 'selected', optionId } })

const promptText = (connection: ClientConnection, sessionId: string, text: string) =>
  connection.agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })

export type Fill = (form: CreateElicitationRequest) => CreateElicitationResponse

export interface EditorOptions {
  readonly answer?: Answer
  /** Fills in forms; an editor without it has none, unless its capabilities say so. */
  readonly fill?: Fill
  readonly capabilities?: InitializeRequest['clientCapabilities']
}

/** The SDK's own client at the other end of a stream, past `initialize`. */
export async function openEditor(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  stream: Stream,
  options: EditorOptions = {},
) {
  const updates: SessionUpdate[] = []
  const asked: RequestPermissionRequest[] = []
  const takenBack = Promise.withResolvers<void>()
  const looks = new Set<() => void>()
  const look = (): void => {
    for (const each of looks) each()
  }
  const connection = client({ name: 'editor' })
    .onNotification('session/update', ({ params }) => {
      updates.push(params.update)
      look()
    })
    .onRequest('session/request_permission', ({ params, signal }) => {
      signal.addEventListener('abort', () => takenBack.resolve())
      asked.push(params)
      look()
      return options.answer?.(params) ?? new Promise(() => {})
    })
    .onRequest('elicitation/create', ({ params }) => options.fill?.(params) ?? { action: 'cancel' })
    .connect(stream)
  cleanup(() => connection.close())
  const wait = <T>(find: () => T | undefined): Promise<T> =>
    new Promise((resolve) => {
      const each = (): void => {
        const found = find()
        if (found === undefined) return
        looks.delete(each)
        resolve(found)
      }
      looks.add(each)
      each()
    })
  const hello = await connection.agent.request('initialize', {
    protocolVersion: 1,
    ...(options.capabilities === undefined && options.fill === undefined
      ? {}
      : {
          clientCapabilities: {
            ...options.capabilities,
            ...(options.fill === undefined ? {} : { elicitation: { form: {} } }),
          },
        }),
  })
  const editor: Editor = {
    connection,
    agent: connection.agent,
    updates,
    asked,
    takenBack: takenBack.promise,
    until: (fits) => wait(() => updates.find(fits)),
    question: (number) => wait(() => asked[number - 1]),
    open: async (meta) => {
      const params: NewSessionRequest = { cwd: '/', mcpServers: [], ...(meta === undefined ? {} : { _meta: meta }) }
      return (await connection.agent.request('session/new', params)).sessionId
    },
    say: (sessionId, text) => promptText(connection, sessionId, text),
    text: (kind = 'agent_message_chunk') =>
      updates
        .flatMap((update) =>
          update.sessionUpdate === kind && 'content' in update && update.content != null && 'type' in update.content
            ? update.content.type === 'text'
              ? [update.content.text]
              : []
            : [],
        )
        .join(''),
  }
  return { ...editor, hello }
}

export interface House {
  readonly runtime: Runtime
  readonly store: Store
  /** Messages that our side got and sent, in memory. */
  connect(
    options?: EditorOptions & { readonly grant?: Grant; readonly acp?: OpenOptions },
  ): Promise<Awaited<ReturnType<typeof openEditor>>>
  access(grant?: Grant): AgentAccess
}

export interface HouseOptions {
  readonly store?: Store
  readonly limits?: Partial<BridgeLimits>
}

/** A runtime that editors reach in memory. */
export async function openHouse(
  context: Pick<CaseContext, 'cleanup'>,
  definitions: readonly AgentDefinition[],
  options: HouseOptions = {},
): Promise<House> {
  const store = options.store ?? memoryStore()
  const runtime = await createRuntime({ store })
  context.cleanup(() => runtime.close().catch(() => {}))
  const bridge = new Bridge(runtime, {
    store,
    clock: systemClock,
    limits: limitsOf(options.limits),
    tokens: undefined,
    definitions: new Map(definitions.map((definition) => [definition.name, definition])),
  })
  context.cleanup(() => bridge.close())
  const access = (grant: Grant = { role: 'admin' }): AgentAccess => new AgentAccess(bridge, grant)
  return {
    runtime,
    store,
    access,
    async connect({ grant, acp = {}, ...editor } = {}) {
      const [ours, theirs] = streamPair()
      openAcp(ours, access(grant), acp)
      return await openEditor(context, theirs, editor)
    },
  }
}

export function streamPair(): [Stream, Stream] {
  const there = new TransformStream<AnyMessage, AnyMessage>()
  const back = new TransformStream<AnyMessage, AnyMessage>()
  return [
    { readable: there.readable, writable: back.writable },
    { readable: back.readable, writable: there.writable },
  ]
}

/** The error of a request that must fail. */
export async function errorOf(
  request: Promise<unknown>,
): Promise<{ readonly code: number; readonly message: string; readonly data: unknown }> {
  try {
    await request
  } catch (thrown) {
    return thrown as { code: number; message: string; data: unknown }
  }
  throw new Error('The request should have failed.')
}

/** A model that never answers. `begun.promise` resolves once it was asked. */
export function silentModel() {
  const begun = Promise.withResolvers<void>()
  const model = policyModel(() => {
    begun.resolve()
    return new Promise(() => {})
  })
  return { model, begun }
}
